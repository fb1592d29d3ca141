from .loop import decay_groups as decay_groups
from .loop import train as train
from .side_by_side import train_side_by_side as train_side_by_side
