"""Game records: deals as lines of JSON, written from games, read by replaying them (docs/records.md)."""

from spades_env.record.files import append_records, check_record, read_records, table_of
from spades_env.record.form import RecordError, parse_line, record_text
from spades_env.record.notation import deal_text, parse_deal
from spades_env.record.seat import record_for_seat, view_of_record
from spades_env.record.write import record_of

__all__ = [
    "RecordError",
    "append_records",
    "check_record",
    "deal_text",
    "parse_deal",
    "parse_line",
    "read_records",
    "record_for_seat",
    "record_of",
    "record_text",
    "table_of",
    "view_of_record",
]
