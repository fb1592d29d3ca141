"""Training and measuring."""

from attncourse.training.loop import train

__all__ = ["train"]
