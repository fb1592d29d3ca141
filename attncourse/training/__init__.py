"""Training and measuring."""

from attncourse.training.loop import decay_groups, train
from attncourse.training.side_by_side import train_side_by_side

__all__ = ["decay_groups", "train", "train_side_by_side"]
