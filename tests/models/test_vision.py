import torch

from attncourse.models.vision import VisionTransformer, to_patches
from tests.refusing import refuses


def test_patches_come_row_by_row():
    pixels = torch.arange(2 * 6 * 4).view(2, 6, 4)
    patches = to_patches(pixels, 2)
    assert patches.shape == (2, 6, 4)
    for row in range(3):
        for column in range(2):
            block = pixels[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            assert torch.equal(patches[:, 2 * row + column], block.flatten(1))


test_patches_that_do_not_fit_are_refused = refuses(
    (lambda: to_patches(torch.zeros(2, 6, 4), 3), r"patches of 3 × 3.*\(2, 6, 4\)"),
    (lambda: to_patches(torch.zeros(6, 4), 2), "height"),
)


def test_without_positions_the_order_of_the_patches_does_not_matter(rng):
    pixels = torch.randn(3, 4, 6, generator=rng)
    mirrored = pixels.view(3, 2, 2, 6).flip(1).reshape(3, 4, 6)  # rows of patches
    for positions in (False, True):
        torch.manual_seed(0)
        model = VisionTransformer(6, 2, 5, 12, 3, 2, positions=positions)
        same = torch.allclose(model(pixels), model(mirrored), atol=1e-5)
        assert same is not positions


def test_one_answer_for_an_image_or_one_for_each_patch(rng):
    pixels = torch.randn(3, 4, 6, generator=rng)
    pooled = VisionTransformer(6, 2, 5, 12, 3, 2)
    logits, weights = pooled(pixels, need_weights=True)
    assert logits.shape == (3, 5)
    assert [w.shape for w in weights] == [(3, 3, 6, 6)] * 2
    assert VisionTransformer(6, 2, 5, 12, 3, 2, pooled=False)(pixels).shape == (3, 6, 5)


def test_a_hidden_patch_changes_nothing_for_the_others(rng):
    pixels = torch.randn(3, 4, 6, generator=rng)
    model = VisionTransformer(6, 2, 5, 12, 3, 1, pooled=False)
    seen = torch.arange(6) != 4
    changed = pixels.clone()
    changed[:, 2:, 2:4] += 1  # patch 4
    before, after = model(pixels, seen[None]), model(changed, seen[None])
    torch.testing.assert_close(after[:, :4], before[:, :4])
