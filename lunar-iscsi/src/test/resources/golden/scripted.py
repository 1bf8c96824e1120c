#!/usr/bin/env python3
"""A small iSCSI initiator for what no ordinary initiator provokes from a target.

  scripted.py reject|snack|async|bidi HOST PORT TARGET

reject  NOP-Out with ping data; NOP-Out with the reserved task tag but not immediate, which LIO rejects
snack   ErrorRecoveryLevel=1: SNACK for two Data-In PDUs and for a status (LIO, target with ErrorRecoveryLevel=2)
async   ErrorRecoveryLevel=2, two connections; the second breaks and the target tells the first (LIO)
bidi    XDWRITEREAD(10) with an AHS for the length of the bidirectional read (tgtd, LUN 1)
"""
import socket
import struct
import sys
import time

RESERVED = 0xFFFFFFFF


def pdu(opcode, flags=0x80, lun=0, tag=1, word20=RESERVED, cmdsn=0, expstatsn=0, rest=bytes(16), ahs=b"", data=b""):
    return (struct.pack(">BBHB3sQIIII", opcode, flags, 0, len(ahs) // 4, len(data).to_bytes(3, "big"), lun, tag, word20,
                        cmdsn, expstatsn) + rest + ahs + data + bytes(-len(data) % 4))


class Connection:
    def __init__(self, cid=0, tsih=0, cmdsn=1, **wanted):
        self.socket = socket.create_connection((sys.argv[2], int(sys.argv[3])), 10)
        self.cmdsn, self.expstatsn = cmdsn, 0
        keys = {"InitiatorName": "iqn.2026-01.org.lunar:initiator", "InitiatorAlias": "lunar-script",
                "TargetName": sys.argv[4], "SessionType": "Normal", "HeaderDigest": "None", "DataDigest": "None"}
        if not cid:
            keys |= {"DefaultTime2Wait": 2, "DefaultTime2Retain": 0, "ErrorRecoveryLevel": 0, "InitialR2T": "Yes",
                     "ImmediateData": "Yes", "MaxBurstLength": 262144, "FirstBurstLength": 65536,
                     "MaxOutstandingR2T": 1, "MaxConnections": 1, "DataPDUInOrder": "Yes",
                     "DataSequenceInOrder": "Yes", "IFMarker": "No", "OFMarker": "No"}
        keys |= {"MaxRecvDataSegmentLength": 8192} | wanted
        text = "".join(f"{key}={value}\0" for key, value in keys.items()).encode()
        self.send(0x43, 0x87, lun=0x80A1B2C30000 << 16 | tsih, tag=0, word20=cid << 16, data=text)
        answer = self.receive()
        if answer[1] != 0x87 or answer[36]:
            sys.exit("login failed: " + answer.hex())
        self.tsih = int.from_bytes(answer[14:16], "big")
        self.expstatsn = int.from_bytes(answer[24:28], "big") + 1

    def send(self, opcode, *args, **kwargs):
        self.socket.sendall(pdu(opcode, *args, cmdsn=self.cmdsn, expstatsn=self.expstatsn, **kwargs))
        if opcode == 1:
            self.cmdsn += 1

    def take(self, length):
        data = b""
        while len(data) < length:
            more = self.socket.recv(length - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self):
        header = self.take(48)
        self.take((int.from_bytes(header[5:8], "big") + 3) // 4 * 4)
        print(header.hex(" ", 4))
        return header

    def receive_all(self, seconds):
        self.socket.settimeout(seconds)
        try:
            while True:
                self.receive()
        except (TimeoutError, EOFError):
            self.socket.settimeout(10)

    def ready(self, lun):
        """TEST UNIT READY until there is no unit attention left."""
        status, tag = 2, 0x10
        while status:
            self.send(1, 0x81, lun=lun << 48, tag=tag, word20=0)
            status, tag = self.receive()[3], tag + 1
            self.expstatsn += 1

    def logout(self):
        self.send(6, 0x80, tag=0x99, word20=0)
        self.receive_all(1)


def reject():
    connection = Connection()
    connection.send(0x40, tag=7, data=b"lunar")
    connection.receive()
    connection.expstatsn += 1
    connection.send(0, tag=RESERVED)
    connection.receive()
    connection.expstatsn += 1
    connection.logout()


def snack():
    connection = Connection(ErrorRecoveryLevel=1, MaxRecvDataSegmentLength=512)
    connection.ready(0)
    connection.send(1, 0xC1, tag=0x20, word20=2048, rest=bytes.fromhex("28000000000000000400000000000000"))
    for _ in range(4):
        connection.receive()
    # Data-In 1 and 2 of task 0x20 once more; then the status.
    connection.cmdsn, cmdsn = 0, connection.cmdsn
    connection.send(0x10, 0x80, tag=0x20, rest=bytes(8) + struct.pack(">II", 1, 2))
    connection.receive_all(1)
    connection.send(0x10, 0x81, tag=RESERVED, rest=bytes(8) + struct.pack(">II", connection.expstatsn, 1))
    connection.receive_all(1)
    connection.cmdsn = cmdsn
    connection.expstatsn += 1
    connection.logout()


def asynchronous():
    first = Connection(ErrorRecoveryLevel=2, MaxConnections=2, DefaultTime2Wait=1, DefaultTime2Retain=5)
    first.ready(0)
    second = Connection(1, first.tsih, first.cmdsn)
    time.sleep(0.5)
    second.socket.close()
    first.receive()
    first.expstatsn += 1
    first.logout()


def bidi():
    connection = Connection()
    connection.ready(1)
    connection.send(1, 0xE1, lun=1 << 48, tag=0x30, word20=512, rest=bytes.fromhex("53000000000000000100000000000000"),
                    ahs=bytes.fromhex("0005020000000200"), data=bytes(range(256)) * 2)
    connection.receive_all(1)
    connection.expstatsn += 1
    connection.logout()


{"reject": reject, "snack": snack, "async": asynchronous, "bidi": bidi}[sys.argv[1]]()
