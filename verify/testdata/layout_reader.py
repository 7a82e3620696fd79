"""Read every page of a collection by its layout alone, as readers that know nothing of chromafs do.

Usage: layout_reader.py CHROMA_URL COLLECTION OUTPUT_FOLDER
"""

import base64
import gzip
import json
import pathlib
import sys
import urllib.request

url, collection, output = sys.argv[1:]
collections = url.rstrip("/") + "/api/v2/tenants/default_tenant/databases/default_database/collections/"


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(collections + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


get = call(collection)["id"] + "/get"
tree = call(get, {"ids": ["__path_tree__"], "include": ["documents"]})["documents"][0]
for slug in json.loads(gzip.decompress(base64.b64decode(tree))):
    found = call(get, {"where": {"page_slug": slug}, "include": ["documents", "metadatas"]})
    chunks = sorted(zip(found["metadatas"], found["documents"]), key=lambda chunk: chunk[0]["chunk_index"])
    page = pathlib.Path(output, slug)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes("\n".join(text for _, text in chunks).encode())
