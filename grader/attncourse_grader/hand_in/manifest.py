"""What was released: which versions, with which secret, and whose copy is whose.

The manifest lies beside the solutions as ``release.json``. It holds no secret and no
name of a student: of the secret it has a fingerprint that takes long to guess from.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import hmac
import json
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused

MANIFEST = "release.json"
ROUNDS = 300_000  # about a tenth of a second for each guess at the secret


@functools.lru_cache(maxsize=64)
def fingerprint(secret: str) -> str:
    """Return a text that tells one secret from another and does not give it away."""
    found = hashlib.pbkdf2_hmac("sha256", secret.encode(), b"attncourse", ROUNDS)
    return found.hex()[:16]


def mark_of(secret: str, student: str) -> str:
    """Return the mark that the notebooks of one student carry."""
    return hmac.new(secret.encode(), student.encode(), "sha256").hexdigest()[:16]


def secret_for(secret: str, student: str, manifest: dict | None) -> str:
    """Return what a student's hidden inputs are drawn from."""
    if manifest and manifest.get("variants"):
        return f"{secret}\n{student}"
    return secret


def read_manifest(solutions: Path) -> dict | None:
    """Return what was noted about the last release, None if nothing was."""
    path = solutions / MANIFEST
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text("utf8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(
            f"{path} cannot be read ({type(error).__name__}). Release the exercises "
            "again with the same secret, or put the file back."
        ) from None
    if not isinstance(found, dict):
        raise Refused(f"{path} is no manifest of a release. Release again.")
    return found


def write_manifest(
    solutions: Path, secret: str, versions: dict, variants: bool
) -> Path:
    """Note a release; what was released before with the same secret stays noted."""
    before = read_manifest(solutions) or {}
    same = before.get("secret") == fingerprint(secret)
    path = solutions / MANIFEST
    manifest = {
        "released": datetime.date.today().isoformat(),
        "secret": fingerprint(secret),
        "variants": variants,
        "exercises": {**(before.get("exercises", {}) if same else {}), **versions},
    }
    path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf8")
    return path


def doubts_about(secret: str, manifest: dict | None, last: str) -> list[str]:
    """Return sentences about a secret that is not the one of the release."""
    said = []
    if manifest and manifest.get("secret") != fingerprint(secret):
        which = (
            "another secret than this one" if secret else "a secret, and none is given"
        )
        said.append(
            f"The exercises were released on {manifest.get('released', 'a day')} with "
            f"{which}. Hidden inputs are drawn from the one that is given, so points "
            "may differ. To go back, grade again with --secret and the word of the "
            "release: what was graded with it is kept and counts again."
        )
    elif last and last != fingerprint(secret):
        said.append(
            "The run before used another secret, so every notebook is graded again. "
            "The earlier grades are kept, and count again with the earlier secret."
        )
    return said
