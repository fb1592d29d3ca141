import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from attncourse.viz import plot_attention, plot_heads, plot_mask
from tests.refusing import refuses


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def weights(heads=3, queries=5, keys=7):
    rng = torch.Generator().manual_seed(0)
    return torch.randn(heads, queries, keys, generator=rng).softmax(-1)


def test_the_picture_shows_the_weights_on_a_fixed_scale():
    shown = weights()[0]
    ax = plot_attention(shown.requires_grad_())
    (image,) = ax.get_images()
    np.testing.assert_allclose(image.get_array(), shown.detach().numpy())
    assert image.get_clim() == (0, 1)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")


def test_rows_are_queries_and_columns_are_keys():
    ax = plot_attention(weights()[0], query_labels="abcde", key_labels="ABCDEFG")
    assert [t.get_text() for t in ax.get_yticklabels()] == list("abcde")
    assert [t.get_text() for t in ax.get_xticklabels()] == list("ABCDEFG")


def test_annotations_are_the_weights():
    ax = plot_attention([[0.25, 0.75], [1.0, 0.0]], annotate=True)
    assert [t.get_text() for t in ax.texts] == ["0.25", "0.75", "1.00", "0.00"]


def test_a_given_axes_is_used_and_gets_a_scale_on_request():
    figure, axes = plt.subplots(1, 2)
    assert plot_attention(weights()[0], ax=axes[1], title="here") is axes[1]
    plot_attention(weights()[0], ax=axes[1], title="here", colorbar=True)
    assert len(figure.axes) == 3
    assert axes[1].get_title() == "here"
    assert not axes[0].get_images()


def test_each_head_gets_a_picture():
    shown = weights(heads=5)
    axes = plot_heads(shown, columns=3, titles="abcde")
    assert [ax.get_title() for ax in axes] == list("abcde")
    assert len(axes[0].figure.axes) == 5
    for head, ax in zip(shown, axes, strict=True):
        np.testing.assert_allclose(ax.get_images()[0].get_array(), head)


def test_query_labels_stand_at_the_first_picture_of_a_row():
    axes = plot_heads(weights(heads=3), columns=2, query_labels="abcde")
    assert [len(ax.get_yticks()) for ax in axes] == [5, 0, 5]


def test_a_mask_is_shown_as_it_is():
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    ax = plot_mask(mask, query_labels="abc", key_labels="ABCDE", title="mask")
    np.testing.assert_array_equal(ax.get_images()[0].get_array(), mask)
    assert ax.get_title() == "mask"


def test_global_settings_stay_as_they_are():
    before = dict(plt.rcParams)
    plot_heads(weights())
    plot_mask(np.eye(3, dtype=bool))
    assert dict(plt.rcParams) == before


test_bad_input_is_named = refuses(
    (lambda: plot_attention(weights()), "one example and one head"),
    (lambda: plot_attention([[2.0, 3.0]]), "apply the softmax first"),
    (lambda: plot_attention(weights()[0], key_labels="ab"), "7 entries"),
    (lambda: plot_heads(weights()[0]), r"weights\[0\]"),
    (lambda: plot_heads(weights(), titles="ab"), "each of the 3 heads"),
    (lambda: plot_mask(np.eye(3)), TypeError, "boolean, True = may attend"),
)
