"""Arrays in memory that is used again: never while an array, a view or a tensor over it is alive."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from spades_env import SpadesVectorEnv
from spades_env.envs.recycled import MOST_BLOCKS, RecycledArrays


def place(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_memory_comes_again_when_nobody_holds_it() -> None:
    arrays = RecycledArrays((3, 5), np.float32)
    first = arrays.take()
    before = place(first)
    assert first.shape == (3, 5)
    assert first.dtype == np.float32
    assert first.flags.c_contiguous
    assert first.flags.aligned
    assert first.flags.writeable
    second = arrays.take()
    assert not np.shares_memory(first, second)
    del first
    assert place(arrays.take()) == before


@pytest.mark.parametrize("hold", [lambda a: a[1], lambda a: a.T[2:][:1], lambda a: a.reshape(-1)[:1], memoryview])
def test_a_view_holds_the_memory(hold: object) -> None:
    arrays = RecycledArrays((4, 6), np.uint8)
    array = arrays.take()
    array[:] = 7
    view = hold(array)  # type: ignore[operator]
    del array
    kept = [arrays.take() for _ in range(2 * MOST_BLOCKS)]
    for other in kept:
        other[:] = 1
    assert (np.asarray(view) == 7).all()
    assert not any(np.shares_memory(a, b) for i, a in enumerate(kept) for b in kept[:i])


def test_a_tensor_holds_the_memory() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `train`")
    arrays = RecycledArrays((4, 6), np.float32)
    tensor = torch.from_numpy(arrays.take())[2]
    tensor[:] = 7.0
    arrays.take()[:] = 1.0
    assert (tensor == 7.0).all()


def test_only_a_few_blocks_are_kept() -> None:
    arrays = RecycledArrays((2, 2), np.int8)
    many = [arrays.take() for _ in range(20)]
    assert len({place(array) for array in many}) == 20
    assert len(arrays._blocks) == MOST_BLOCKS


def test_copies_share_nothing() -> None:
    arrays = RecycledArrays((2, 2), np.int8)
    held = arrays.take()
    for twin in (copy.deepcopy(arrays), pickle.loads(pickle.dumps(arrays))):
        assert not np.shares_memory(held, twin.take())


def test_observations_of_earlier_steps_stay_as_they_were() -> None:
    """What a learner stores, in whole or in part, is never written over; what she lets go of is used again."""
    env = SpadesVectorEnv(num_envs=8, episode="deal")
    observation, _ = env.reset(seed=1)
    whole, parts, copies, places = [], [], [], set()
    for step in range(40):
        copies.append((observation["observation"].copy(), observation["action_mask"].copy()))
        places.add(place(observation["observation"]))
        whole.append(observation if step < 10 else None)
        parts.append((observation["observation"][2:5], observation["action_mask"][3]) if step % 9 == 0 else None)
        observation = env.step(env.action_masks().argmax(axis=1))[0]
    for kept, part, (rows, masks) in zip(whole, parts, copies, strict=True):
        if kept is not None:
            assert np.array_equal(kept["observation"], rows)
            assert np.array_equal(kept["action_mask"], masks)
        if part is not None:
            assert np.array_equal(part[0], rows[2:5])
            assert np.array_equal(part[1], masks[3])
    assert len(places) < 20
