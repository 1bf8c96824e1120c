package lunar.iscsi.framing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import lunar.iscsi.pdu.Bhs;

/** A PDU in hexadecimal, so that a failed comparison is readable. */
record FramedPdu(String bhs, String ahs, String data) {
    static FramedPdu of(byte[] bhs, byte[] ahs, byte[] data) {
        HexFormat hex = HexFormat.of();
        return new FramedPdu(hex.formatHex(bhs), hex.formatHex(ahs), hex.formatHex(data));
    }

    static FramedPdu of(Bhs bhs, MemorySegment ahs, MemorySegment data) {
        return of(bhs.bytes().toArray(ValueLayout.JAVA_BYTE), ahs.toArray(ValueLayout.JAVA_BYTE),
                data.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Takes a PDU on the wire apart, by the lengths in its header and nothing of the code under test. */
    static FramedPdu parse(String wire, boolean headerDigest) {
        int ahs = Integer.parseInt(wire, 8, 10, 16) * 4;
        int data = Integer.parseInt(wire, 10, 16, 16);
        int dataAt = 48 + ahs + (headerDigest ? 4 : 0);
        return new FramedPdu(wire.substring(0, 96), wire.substring(96, 96 + 2 * ahs),
                wire.substring(2 * dataAt, 2 * (dataAt + data)));
    }

    /** The bytes on the wire (RFC 7143 section 11.2). */
    byte[] wire(Framing framing) {
        byte[] segments = HexFormat.of().parseHex(bhs + ahs);
        byte[] bytes = HexFormat.of().parseHex(data);
        byte[] padded = Arrays.copyOf(bytes, (bytes.length + 3) & ~3);
        ByteBuffer out = ByteBuffer.allocate(segments.length + padded.length + 8)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.put(segments);
        if (framing.headerDigest()) {
            out.putInt(crc(segments));
        }
        out.put(padded);
        if (framing.dataDigest() && padded.length > 0) {
            out.putInt(crc(padded));
        }
        return Arrays.copyOf(out.array(), out.position());
    }

    private static int crc(byte[] bytes) {
        var crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
