package lunar.it.fuzz;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import lunar.iscsi.pdu.Bhs;

/** PDUs of real initiators, from the captures of lunar-iscsi's tests. */
final class Captures {
    /** A connection of an initiator. */
    record Capture(boolean headerDigest, boolean dataDigest, List<Wire> logins,
            List<Wire> requests) {}

    private static final Path FOLDER = Path.of("lunar-iscsi/src/test/resources/golden");

    private Captures() {}

    static List<Capture> all() throws IOException {
        Path folder = Files.isDirectory(FOLDER) ? FOLDER : Path.of("..").resolve(FOLDER);
        try (Stream<Path> files = Files.list(folder)) {
            var all = new ArrayList<Capture>();
            for (Path file : files.filter(f -> f.toString().endsWith(".hex")).sorted().toList()) {
                all.add(read(Files.readAllLines(file)));
            }
            return List.copyOf(all);
        }
    }

    private static Capture read(List<String> lines) {
        boolean headerDigest = false;
        boolean dataDigest = false;
        int from = 0;
        int number = 0;
        var logins = new ArrayList<Wire>();
        var requests = new ArrayList<Wire>();
        for (String line : lines) {
            if (line.startsWith("digests ")) {
                headerDigest = line.contains("header=crc32c");
                dataDigest = line.contains("data=crc32c");
                from = Integer.parseInt(line.substring(line.indexOf("from=") + 5).trim());
            } else if (!line.startsWith("#") && !line.isBlank()) {
                boolean digests = headerDigest && number >= from;
                if (line.charAt(0) == 'I') {
                    Wire pdu = wire(HexFormat.of().parseHex(line.substring(2)), digests);
                    (Logins.isLogin(pdu) && number < from ? logins : requests).add(pdu);
                }
                number++;
            }
        }
        for (Wire login : logins) {
            chooseDigests(login, headerDigest, dataDigest);
        }
        return new Capture(headerDigest, dataDigest, List.copyOf(logins), List.copyOf(requests));
    }

    private static Wire wire(byte[] bytes, boolean headerDigest) {
        byte[] header = Arrays.copyOf(bytes, Bhs.LENGTH);
        int ahs = (header[4] & 0xff) * 4;
        int length = (header[5] & 0xff) << 16 | (header[6] & 0xff) << 8 | header[7] & 0xff;
        int at = Bhs.LENGTH + ahs + (headerDigest ? 4 : 0);
        return Wire.of(header, Arrays.copyOfRange(bytes, Bhs.LENGTH, Bhs.LENGTH + ahs),
                Arrays.copyOfRange(bytes, at, at + length));
    }

    /** Our target would choose for itself: only what the other one chose is left to it. */
    private static void chooseDigests(Wire login, boolean headerDigest, boolean dataDigest) {
        String text = new String(login.data, StandardCharsets.ISO_8859_1)
                .replaceAll("HeaderDigest=[^\0]*", "HeaderDigest=" + name(headerDigest))
                .replaceAll("DataDigest=[^\0]*", "DataDigest=" + name(dataDigest));
        login.data = text.getBytes(StandardCharsets.ISO_8859_1);
        login.lengths();
    }

    private static String name(boolean digest) { return digest ? "CRC32C" : "None"; }
}
