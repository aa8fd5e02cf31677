#!/bin/sh
# An agent for spades_env in POSIX shell and awk. docs/external_agents.md explains the protocol.
#
#   spades evaluate "process:sh docs/examples/agents/lowest.sh" random --deals 10
#
# Bids and plays as low as she may; the same moves as our own `lowest`. Requests have no blanks between their fields
# and always the same order, so that "legal" can be cut out of a line without a JSON parser.

# The action for a request. Legal actions come in the order of their ids: the first of equal ranks is the lowest id.
choose() {
    printf '%s\n' "$1" | awk '
        function rank(card) {
            return card == "LJ" ? 14 : card == "BJ" ? 15 : index("23456789TJQKA", substr(card, 1, 1))
        }
        function value(name) {  # the string, with its quotes, or list behind the first field of this name
            match($0, "\"" name "\":(\"[^\"]*\"|\\[[^]]*\\])")
            return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
        }
        {
            legal = value("legal"); phase = value("phase"); gsub(/[]["]/, "", legal)
            n = split(legal, actions, ",")
            gsub(/"/, "", phase)
            if (phase == "blind") best = "look"
            else if (phase == "exchange") best = "done"
            else if (phase == "draft") best = rank(substr(value("shown"), 2)) <= rank("8") ? "keep" : "take next"
            else if (phase == "bid") { for (i = n; i > 0; i--) if (actions[i] ~ /^bid/) best = actions[i] }
            else { best = actions[1]; for (i = 2; i <= n; i++) if (rank(actions[i]) < rank(best)) best = actions[i] }
            print best
        }'
}

while IFS= read -r line; do
    case $line in
    '{"type":"hello"'*)
        printf '%s\n' '{"type":"hello","protocol":"spades-agent","version":1,"name":"lowest.sh"}'
        ;;
    *)
        id=${line#*\"id\":}
        printf '{"id":%s,"action":"%s"}\n' "${id%%,*}" "$(choose "$line")"
        ;;
    esac
done
