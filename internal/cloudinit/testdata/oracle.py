# SPDX-License-Identifier: Apache-2.0
"""Tells what cloud-init makes of user data: a list of base64 on standard input, a list of findings on standard output, both JSON.

The processing is cloud-init's own: its user-data processor, then its handlers of cloud-config, JSON patches, scripts and Jinja
templates, in the order of the parts. Nothing is run.
"""

import base64
import json
import logging
import os
import sys
import tempfile

from cloudinit import handlers, helpers, util
from cloudinit.config import schema
from cloudinit.handlers.cloud_config import CloudConfigPartHandler
from cloudinit.handlers.jinja_template import render_jinja_payload
from cloudinit.handlers.shell_script import ShellScriptPartHandler
from cloudinit.user_data import UserDataProcessor

CONFIGS = ("text/cloud-config", "text/cloud-config-jsonp")
INSTANCE = {"v1": {"instance_id": "i-1", "local_hostname": "machine"}}

warnings = []


class Warnings(logging.Handler):
    def emit(self, record):
        if record.levelno >= logging.WARNING:
            warnings.append(record.getMessage())


def as_bytes(payload):
    return payload if isinstance(payload, bytes) else payload.encode("utf-8", "surrogateescape")


def encoded(payload):
    return base64.b64encode(as_bytes(payload)).decode()


def schema_errors(config):
    try:
        schema.validate_cloudconfig_schema(config, schema.get_schema(), strict=True)
    except schema.SchemaValidationError as error:
        return str(error)
    return ""


def read(blob):
    with tempfile.TemporaryDirectory() as directory:
        paths = helpers.Paths({"cloud_dir": directory, "run_dir": directory})
        configs = CloudConfigPartHandler(paths)
        scripts = ShellScriptPartHandler(paths)
        warnings.clear()  # there is no instance, which is no fault of the user data's
        parts = [read_part(part, configs, scripts) for part in UserDataProcessor(paths).process(blob).walk() if not part.is_multipart()]
        written = {}
        if os.path.isdir(scripts.script_dir):
            for name in sorted(os.listdir(scripts.script_dir)):
                with open(os.path.join(scripts.script_dir, name), "rb") as script:
                    written[name] = encoded(script.read())
        return {"parts": parts, "config": configs.cloud_buf or {}, "scripts": written, "warnings": list(warnings)}


def read_part(part, configs, scripts):
    kind, name = part.get_content_type(), part.get_filename()
    payload = util.fully_decoded_payload(part)
    told = {"type": kind, "name": name, "payload": encoded(payload), "mergeType": part.get("Merge-Type", "")}
    text = as_bytes(payload).decode("utf-8", "surrogateescape")
    if kind == "text/jinja2":
        text = render_jinja_payload(text, name, INSTANCE)
        kind = handlers.type_from_starts_with(text)
    if kind == "text/cloud-config":
        told["schema"] = schema_errors(util.load_yaml(text))
    if kind in CONFIGS:
        configs.handle_part(None, kind, name, text, None, dict(part))
    elif kind == "text/x-shellscript":
        scripts.handle_part(None, kind, name, text, None)
    return told


logging.getLogger().addHandler(Warnings())
json.dump([read(base64.b64decode(blob)) for blob in json.load(sys.stdin)], sys.stdout)
