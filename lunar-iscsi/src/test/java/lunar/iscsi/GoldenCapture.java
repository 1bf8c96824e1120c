package lunar.iscsi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.TargetPdu;

/**
 * A captured connection between foreign peers; src/test/resources/golden/README.md describes the captures.
 *
 * @param headerDigest whether full feature phase PDUs have a header digest
 * @param dataDigest whether they have a data digest
 * @param pdus all PDUs in chronological order
 */
public record GoldenCapture(String name, boolean headerDigest, boolean dataDigest, List<Pdu> pdus) {
    /**
     * A PDU as it was on the wire.
     *
     * @param number its place in the file, from 0
     */
    public record Pdu(String file, int number, boolean fromInitiator, byte[] bytes,
            boolean hasHeaderDigest,
            boolean hasDataDigest) {
        public Bhs bhs() { return new Bhs().wrap(MemorySegment.ofArray(bytes)); }

        public MemorySegment ahs() { return slice(Bhs.LENGTH, bhs().totalAhsLengthBytes()); }

        public MemorySegment headers() {
            return slice(0, Bhs.LENGTH + bhs().totalAhsLengthBytes());
        }

        public int wireHeaderDigest() {
            return new Bhs().wrap(MemorySegment.ofArray(bytes)).int32((int) headers().byteSize());
        }

        /** The data segment with its padding. */
        public MemorySegment paddedData() {
            long start = headers().byteSize() + (hasHeaderDigest ? 4 : 0);
            return slice(start, (bhs().dataSegmentLength() + 3) & ~3);
        }

        public int wireDataDigest() { return bhs().int32(bytes.length - 4); }

        public lunar.iscsi.pdu.Pdu decoded() throws ProtocolException {
            return fromInitiator
                    ? InitiatorPdu.decode(bhs(), ahs())
                    : TargetPdu.decode(bhs(), ahs());
        }

        @Override
        public String toString() { return file + " PDU " + number; }

        private MemorySegment slice(long start, long length) {
            return MemorySegment.ofArray(bytes).asSlice(start, length);
        }
    }

    public static List<GoldenCapture> all() {
        try (Stream<Path> files = Files.list(directory())) {
            return files.filter(f -> f.toString().endsWith(".hex")).sorted()
                    .map(GoldenCapture::read).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static GoldenCapture of(String name) { return read(directory().resolve(name + ".hex")); }

    /** The PDU with a number, from 0, of a capture. */
    public static Pdu pdu(String name, int number) {
        return of(name).pdus.get(number);
    }

    private static GoldenCapture read(Path file) {
        String name = file.getFileName().toString().replace(".hex", "");
        boolean headerDigest = false;
        boolean dataDigest = false;
        int from = 0;
        List<Pdu> pdus = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("digests ")) {
                    headerDigest = line.contains("header=crc32c");
                    dataDigest = line.contains("data=crc32c");
                    from = Integer.parseInt(line.substring(line.indexOf("from=") + 5).trim());
                } else if (!line.startsWith("#") && !line.isBlank()) {
                    byte[] bytes = HexFormat.of().parseHex(line.substring(2));
                    boolean digests = pdus.size() >= from;
                    boolean hasData = (bytes[5] | bytes[6] | bytes[7]) != 0;
                    pdus.add(new Pdu(name, pdus.size(), line.charAt(0) == 'I', bytes,
                            digests && headerDigest, digests && dataDigest && hasData));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new GoldenCapture(name, headerDigest, dataDigest, List.copyOf(pdus));
    }

    private static Path directory() {
        try {
            return Path
                    .of(Objects.requireNonNull(GoldenCapture.class.getResource("/golden")).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
