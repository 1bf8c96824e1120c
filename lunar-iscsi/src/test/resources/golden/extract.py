#!/usr/bin/env python3
"""Cuts iSCSI PDUs out of a packet capture.

  extract.py list FILE.pcap [--port P]                 one line per PDU of every TCP connection
  extract.py write FILE.pcap CONNECTION OUT.hex [--port P] [--drop 5-9,12] -c 'comment' ...
      writes one connection as lines 'I <hex>' (initiator) and 'T <hex>' (target)

Each direction is put together by TCP sequence number and cut at the lengths in the PDU headers; digests are checked
where the login negotiated them. PDUs are ordered by the packet with their last byte. Reads tcpdump -w of IPv4 on lo.
"""
import argparse
import struct
import sys

LOGIN, DIGESTS = (0x03, 0x23), ("HeaderDigest", "DataDigest")
OPCODES = {0: "NOP-Out", 1: "SCSI-Command", 2: "TMF-Request", 3: "Login-Request", 4: "Text-Request", 5: "Data-Out",
           6: "Logout-Request", 0x10: "SNACK", 0x20: "NOP-In", 0x21: "SCSI-Response", 0x22: "TMF-Response",
           0x23: "Login-Response", 0x24: "Text-Response", 0x25: "Data-In", 0x26: "Logout-Response", 0x31: "R2T",
           0x32: "Async", 0x3F: "Reject"}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def packets(path):
    """Yields (source, destination, seq, flags, payload) of each TCP packet; the ends are (address, port)."""
    with open(path, "rb") as f:
        order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">"}[f.read(24)[:4]]
        while len(head := f.read(16)) == 16:
            caught, length = struct.unpack(order + "8xII", head)
            frame = f.read(caught)
            if caught < length:
                sys.exit("a packet is cut short: capture with -s 0")
            if frame[12:14] + frame[23:24] != b"\x08\x00\x06":  # IPv4, TCP
                continue
            ip = frame[14:14 + int.from_bytes(frame[16:18], "big")]
            tcp = ip[(ip[0] & 15) * 4:]
            sport, dport, seq = struct.unpack(">HHI", tcp[:8])
            yield (ip[12:16], sport), (ip[16:20], dport), seq, tcp[13], tcp[(tcp[12] >> 4) * 4:]


class Stream:
    """One direction of a connection: its bytes, and for each arrival how many bytes were there by then."""
    def __init__(self, first):
        self.first, self.data, self.arrivals, self.early = first, bytearray(), [], {}

    def add(self, number, seq, payload):
        self.early[(seq - self.first) & 0xFFFFFFFF] = payload
        for offset in sorted(self.early):
            if offset > len(self.data):
                break
            self.data += self.early.pop(offset)[len(self.data) - offset:]
        self.arrivals.append((len(self.data), number))


def connections(path, port):
    """The connections to the port in order of their SYN, each {'I': Stream, 'T': Stream}."""
    live, found = {}, []
    for number, (src, dst, seq, flags, payload) in enumerate(packets(path)):
        side, key = ("I", (src, dst)) if dst[1] == port else ("T", (dst, src))
        if flags & 2 and dst[1] == port:  # SYN of the initiator
            found.append({})
            live[key] = found[-1]
        if key in live and flags & 2:
            live[key][side] = Stream(seq + 1)
        elif key in live and payload:
            live[key][side].add(number, seq, payload)
    return found


def cut(stream, digests):
    """Yields (number of the packet with its last byte, PDU); login PDUs teach and never have digests."""
    if stream.early:
        sys.exit(f"the capture lost packets: no byte {len(stream.data)} of a stream (tcpdump -B takes a larger buffer)")
    data, at = bytes(stream.data), 0
    while at + 48 <= len(data):
        login = data[at] & 0x3F in LOGIN
        header = not login and digests.get("HeaderDigest") == "CRC32C"
        head = 48 + data[at + 4] * 4
        length = int.from_bytes(data[at + 5:at + 8], "big")
        body, end = at + head + 4 * header, at + head + 4 * header + (length + 3) // 4 * 4
        tail = 4 if length and not login and digests.get("DataDigest") == "CRC32C" else 0
        if end + tail > len(data):
            break
        if (header and crc32c(data[at:body - 4]) != data[body - 4:body]
                or tail and crc32c(data[body:end]) != data[end:end + 4]):
            sys.exit(f"wrong digest at byte {at} of a stream")
        if login:
            for pair in data[body:body + length].split(b"\0"):
                name, _, value = pair.decode().partition("=")
                if name in DIGESTS and "," not in value:
                    digests.setdefault(name, value)
        yield next(n for count, n in stream.arrivals if count >= end + tail), data[at:end + tail]
        at = end + tail
    if at < len(data):
        print(f"{len(data) - at} bytes at the end of a stream are no whole PDU", file=sys.stderr)


def pdus(connection):
    """(direction, PDU) in order of time, and the digests of the connection."""
    digests = {}  # the target's answers decide what was negotiated, so its stream is cut first
    found = [(n, side, pdu) for side in "TI" if side in connection for n, pdu in cut(connection[side], digests)]
    return [(side, pdu) for _, side, pdu in sorted(found, key=lambda f: f[0])], digests


def print_pdus(found):
    for number, (listed, digests) in enumerate(found):
        print(f"connection {number}: {len(listed)} PDUs {digests}")
        for n, (side, pdu) in enumerate(listed):
            opcode = pdu[0] & 0x3F
            text = pdu[48:].decode(errors="replace").replace("\0", " ") if opcode in (*LOGIN, 0x04, 0x24) else ""
            print(f"{n:5} {side} {OPCODES.get(opcode, '?'):15} {len(pdu):6} {pdu[:48].hex(' ', 4)} {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("list", "write"))
    parser.add_argument("pcap")
    parser.add_argument("connection", nargs="?", type=int)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--port", type=int, default=3260)
    parser.add_argument("--drop", default="", help="PDUs to leave out: numbers and ranges, counted from 0")
    parser.add_argument("-c", "--comment", action="append", default=[])
    args = parser.parse_args()
    found = [pdus(connection) for connection in connections(args.pcap, args.port)]
    if args.verb == "list":
        return print_pdus(found)
    ranges = [part.partition("-") for part in args.drop.split(",") if part]
    dropped = {n for low, _, high in ranges for n in range(int(low), int(high or low) + 1)}
    listed, digests = found[args.connection]
    kept = [pdu for n, pdu in enumerate(listed) if n not in dropped]
    first = next((n for n, (_, pdu) in enumerate(kept) if pdu[0] & 0x3F not in LOGIN), len(kept))
    with open(args.out, "w") as out:
        out.writelines(f"# {line}\n" for line in args.comment)
        if dropped:
            out.write(f"# left out: {len(listed) - len(kept)} of {len(listed)} PDUs, numbers {args.drop} as captured\n")
        values = [digests.get(name, "None").lower() for name in DIGESTS]
        out.write("digests header={} data={} from={}\n".format(*values, first))
        out.writelines(f"{side} {pdu.hex()}\n" for side, pdu in kept)


if __name__ == "__main__":
    main()
