package lunar.it;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * Writes a capture file of TCP connections, for decoders of other projects: IPv4 packets without checksums, between
 * two addresses that are made up. Thread-safe.
 */
final class PcapFile implements AutoCloseable {
    /** LINKTYPE_RAW: packets begin with the IP header. */
    private static final int RAW = 101;
    private static final int MAGIC = 0xa1b2c3d4;
    private static final int MAX_PACKET = 65_535;
    private static final int IP_HEADER = 20;
    private static final int TCP_HEADER = 20;
    private static final int MAX_DATA = 32 << 10;
    private static final int INITIATOR = 0x0a00_0001;
    private static final int TARGET = 0x0a00_0002;
    private static final int SYN = 0x02;
    private static final int ACK = 0x10;
    private static final int PUSH = 0x08;

    private final OutputStream out;

    PcapFile(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file));
        out.write(ByteBuffer.allocate(24).putInt(MAGIC).putShort((short) 2).putShort((short) 4)
                .putInt(0).putInt(0).putInt(MAX_PACKET).putInt(RAW).array());
    }

    /** Begins a connection: its handshake. */
    synchronized Connection connection(int initiatorPort, int targetPort) throws IOException {
        var connection = new Connection(initiatorPort, targetPort);
        connection.packet(true, SYN, new byte[0], 0, 0);
        connection.toTarget++;
        connection.packet(false, SYN | ACK, new byte[0], 0, 0);
        connection.toInitiator++;
        connection.packet(true, ACK, new byte[0], 0, 0);
        return connection;
    }

    @Override
    public synchronized void close() throws IOException { out.close(); }

    /** A connection, with the sequence numbers that come next. */
    final class Connection {
        private final int initiatorPort;
        private final int targetPort;
        private int toTarget = 1000;
        private int toInitiator = 2000;

        Connection(int initiatorPort, int targetPort) {
            this.initiatorPort = initiatorPort;
            this.targetPort = targetPort;
        }

        /** Writes data that passed in one direction. */
        void data(boolean forth, byte[] bytes, int length) throws IOException {
            synchronized (PcapFile.this) {
                for (int at = 0; at < length; at += MAX_DATA) {
                    int count = Math.min(MAX_DATA, length - at);
                    packet(forth, ACK | PUSH, bytes, at, count);
                    if (forth) {
                        toTarget += count;
                    } else {
                        toInitiator += count;
                    }
                }
            }
        }

        private void packet(boolean forth, int flags, byte[] data, int at, int count)
                throws IOException {
            Instant now = Instant.now();
            int length = IP_HEADER + TCP_HEADER + count;
            ByteBuffer packet = ByteBuffer.allocate(16 + length).order(ByteOrder.BIG_ENDIAN);
            packet.putInt((int) now.getEpochSecond()).putInt(now.getNano() / 1000)
                    .putInt(length).putInt(length);
            packet.put((byte) 0x45).put((byte) 0).putShort((short) length).putInt(0)
                    .put((byte) 64).put((byte) 6).putShort((short) 0)
                    .putInt(forth ? INITIATOR : TARGET).putInt(forth ? TARGET : INITIATOR);
            packet.putShort((short) (forth ? initiatorPort : targetPort))
                    .putShort((short) (forth ? targetPort : initiatorPort))
                    .putInt(forth ? toTarget : toInitiator)
                    .putInt((flags & ACK) == 0 ? 0 : forth ? toInitiator : toTarget)
                    .put((byte) (TCP_HEADER / 4 << 4)).put((byte) flags).putShort((short) 0xffff)
                    .putInt(0);
            packet.put(data, at, count);
            out.write(packet.array());
        }
    }
}
