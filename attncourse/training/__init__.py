"""Training and measuring."""

from attncourse.training.loop import train
from attncourse.training.side_by_side import train_side_by_side

__all__ = ["train", "train_side_by_side"]
