"""Generated data: symbol tasks, translations, passages, news; and file loaders.

Names are imported when they are first used, so that the generators work without torch.
"""

from attncourse._lazy import lazy_names

__getattr__, __dir__, _module_of = lazy_names(__name__)
__all__ = [*_module_of]
