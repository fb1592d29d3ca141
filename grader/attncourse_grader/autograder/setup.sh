#!/usr/bin/env bash
set -eu
# Ubuntu 22.04, which Gradescope takes, has an older Python by default.
apt-get update
apt-get install -y python3.11 python3.11-venv
python3.11 -m venv /autograder/venv
cd /autograder/source
export PIP_CONFIG_FILE=/autograder/source/pip.conf
/autograder/venv/bin/pip install --no-cache-dir '.[chapters]' ./grader
chmod -R go-rwx /autograder/source/solutions /autograder/source/settings.json
