"""Starts `pricelake mcp` with the client of PyPI's package mcp, calls every tool, and compares figures with --json."""

import asyncio
import json
import os
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MAIN, LAKE, PIPELINE, LIST = sys.argv[1:5]


def printed(*args):
    done = subprocess.run(["node", MAIN, *args, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


async def main():
    args = [MAIN, "mcp", PIPELINE, "--list", LIST, "--allow-sync", "--max-calls", "300", "--max-rows", "1000000"]
    # The client passes few variables on by itself, and the pipeline file names others.
    server = StdioServerParameters(command="node", args=args, env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        called = set()

        async def call(name, **given):
            called.add(name)
            result = await session.call_tool(name, given)
            # 1.x and 2.x spell members in two ways.
            failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
            content = getattr(result, "structuredContent", None) or getattr(result, "structured_content", None)
            if failed:
                raise SystemExit(f"{name}: {[part.text for part in result.content]}")
            return content

        names = {tool.name for tool in (await session.list_tools()).tools}
        described = await call("describe")
        sql = "SELECT count(*) AS n, sum(price)::VARCHAR AS total FROM items"
        rows = (await call("query", sql=sql))["rows"]
        told = printed("query", sql, "--lake", LAKE)["rows"]
        assert [str(rows[0][k]) for k in ("n", "total")] == [str(told[0][k]) for k in ("n", "total")], (rows, told)
        assert described["figures"]["items"] == str(told[0]["n"])
        await call("analyses")
        widest = (await call("run_analysis", analysis="widest_spreads", variables={"top": "3"}))["rows"]
        spread = printed("spread", "--top", "3", "--lake", LAKE)["rows"]
        assert [one["product_id"] for one in widest] == [one["product_id"] for one in spread]
        product = widest[0]["product_id"]
        assert (await call("product", product=product))["offers"]["rows"]
        await call("movers", top=3)
        await call("watch")
        await call("changes", table="items", since="0", limit=5)
        item = (await call("query", sql="SELECT item_id FROM items LIMIT 1"))["rows"][0]["item_id"]
        why = await call("why", table="items", key=item, column="price")
        assert why["rows"][0][0]["column"] == "price"
        await call("status")
        await call("checks", failing=True)
        await call("explain_error", code="quota")
        plan = await call("plan")
        assert plan["digest"], plan
        synced = await call("sync", digest=plan["digest"])
        assert int(synced["paid"]["calls"]) > 0, synced
        assert names == called, names ^ called
        print(f"{len(called)} tools called by the client of PyPI")


asyncio.run(main())
