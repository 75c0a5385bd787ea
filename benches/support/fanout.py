"""Barrier rounds with asyncio and aiohttp: start all, wait with a timeout, cancel and await what is left.

fanout.py URL WIDTH ROUNDS prints the median of a round and the CPU time of a call, in microseconds.
"""
import asyncio
import sys
import time

import aiohttp


async def call(session, url):
    async with session.get(url) as response:
        return await response.read()


async def one(session, url, width):
    tasks = [asyncio.create_task(call(session, url)) for _ in range(width)]
    done, pending = await asyncio.wait(tasks, timeout=5)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return sum(1 for task in done if task.exception() is None)


async def main(url, width, rounds):
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        for _ in range(3):
            await one(session, url, width)
        took = []
        cpu = time.process_time()
        for _ in range(rounds):
            began = time.monotonic()
            if await one(session, url, width) != width:
                sys.exit("not every call was answered")
            took.append(time.monotonic() - began)
        cpu = time.process_time() - cpu
    took.sort()
    print(took[len(took) // 2] * 1e6, cpu / (rounds * width) * 1e6)


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
