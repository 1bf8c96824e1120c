package lunar.it.fuzz;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.framing.Crc32c;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.ScsiCommand;

/** A PDU whose header need not agree with the data that follow. */
final class Wire {
    private static final byte[] NOTHING = {};

    final byte[] header;
    byte[] ahs = NOTHING;
    byte[] data;
    boolean wrongHeaderDigest;
    boolean wrongDataDigest;

    private Wire(byte[] header, byte[] data) {
        this.header = header;
        this.data = data;
    }

    /** A PDU as it should be. */
    static Wire of(Pdu pdu, byte[] data) {
        var made = new Wire(new byte[Bhs.LENGTH], data);
        pdu.encode(made.bhs());
        if (pdu instanceof ScsiCommand command && command.ahsBytes() > 0) {
            made.ahs = new byte[command.ahsBytes()];
            command.encodeAhs(MemorySegment.ofArray(made.ahs));
        }
        made.lengths();
        return made;
    }

    static Wire of(Pdu pdu) { return of(pdu, NOTHING); }

    static Wire of(byte[] header, byte[] ahs, byte[] data) {
        var made = new Wire(header, data);
        made.ahs = ahs;
        return made;
    }

    Wire copy() {
        var made = new Wire(header.clone(), data.clone());
        made.ahs = ahs.clone();
        return made;
    }

    Bhs bhs() { return new Bhs().wrap(MemorySegment.ofArray(header)); }

    int opcode() { return header[0] & 0x3f; }

    /** Sets the length fields of the header to what follows it, as far as they reach. */
    void lengths() {
        header[4] = (byte) (ahs.length / 4);
        header[5] = (byte) (data.length >> 16);
        header[6] = (byte) (data.length >> 8);
        header[7] = (byte) data.length;
    }

    void write(ByteArrayOutputStream out, boolean headerDigest, boolean dataDigest) {
        out.writeBytes(header);
        out.writeBytes(ahs);
        if (headerDigest) {
            var crc = new Crc32c().update(MemorySegment.ofArray(header))
                    .update(MemorySegment.ofArray(ahs));
            number(out, crc.wire() ^ (wrongHeaderDigest ? 1 : 0));
        }
        out.writeBytes(data);
        for (int i = data.length; (i & 3) != 0; i++) {
            out.write(0);
        }
        if (dataDigest && data.length > 0) {
            number(out, Crc32c.of(MemorySegment.ofArray(data)) ^ (wrongDataDigest ? 1 : 0));
        }
    }

    private static void number(ByteArrayOutputStream out, int value) {
        out.write(value >> 24);
        out.write(value >> 16);
        out.write(value >> 8);
        out.write(value);
    }
}
