"""Random loss of what a program receives."""

import re
import subprocess

from contextlib import contextmanager


def udp_ports(namespace, pid):
    listed = subprocess.run(
        namespace.command("ss", "-H", "-u", "-a", "-n", "-p"), check=True, capture_output=True, text=True
    ).stdout
    lines = [line for line in listed.splitlines() if f"pid={pid}," in line]
    return sorted({int(re.search(r":(\d+)$", line.split()[3]).group(1)) for line in lines})


@contextmanager
def loss(namespace, percent, program):
    """Drops `percent` of the datagrams towards the sockets that the program has now."""
    ports = udp_ports(namespace, program.pid)
    assert ports, program.report("has no UDP socket to lose datagrams at")
    match = f"udp dport {{ {', '.join(map(str, ports))} }} numgen random mod 100 < {percent}"
    chain = f"type filter hook input priority 0\n{match} counter drop"
    rules = f"table inet bench {{\nchain input {{\n{chain}\n}}\n}}\n"

    def nft(*arguments, text=None):
        done = subprocess.run(namespace.command("nft", *arguments), capture_output=True, text=True, input=text)
        assert done.returncode == 0, f"nft {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    nft("-f", "-", text=rules)
    try:
        yield
        dropped = int(re.search(r"counter packets (\d+)", nft("list", "table", "inet", "bench")).group(1))
        assert dropped, f"nothing was lost on the way to {program.arguments}"
    finally:
        nft("delete", "table", "inet", "bench")
