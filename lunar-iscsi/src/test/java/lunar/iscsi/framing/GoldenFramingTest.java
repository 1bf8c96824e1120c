package lunar.iscsi.framing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests captured streams of real peers: their digests, which start at the end of the login. */
class GoldenFramingTest {
    private static final Framing LOGIN = new Framing(false, false, 1 << 18, 0);

    /** A direction of a connection; PDUs from {@code from} on carry the digests of {@code framing}. */
    private record Direction(List<FramedPdu> pdus, byte[] stream, int from, Framing framing) {
        ReaderShell shell() {
            var shell = new ReaderShell();
            shell.reader.framing(from == 0 ? framing : LOGIN);
            shell.afterReceived = () -> {
                if (shell.received.size() == from) {
                    shell.reader.framing(framing);
                }
            };
            return shell;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"kernel-lio-digests", "kernel-lio-ahs-write",
            "libiscsi-tgtd-header-digest"})
    void shouldParseTheSamePdusAtEveryByteBoundary(String capture) throws IOException {
        for (String direction : List.of("I ", "T ")) {
            Direction golden = read(capture, direction);
            byte[] stream = golden.stream();
            for (int cut = 0; cut <= stream.length; cut++) {
                ReaderShell shell = golden.shell();
                shell.feed(stream, 0, cut);
                shell.feed(stream, cut, stream.length);
                assertThat(shell.received).as("%s%s cut at %d", direction, capture, cut)
                        .isEqualTo(golden.pdus());
                assertThat(shell.digestErrors).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"kernel-lio-digests", "kernel-lio-ahs-write",
            "libiscsi-tgtd-header-digest"})
    void shouldAcceptTheStreamByteByByte(String capture) throws IOException {
        for (String direction : List.of("I ", "T ")) {
            Direction golden = read(capture, direction);
            ReaderShell shell = golden.shell();
            for (int at = 0; at < golden.stream().length; at++) {
                shell.feed(golden.stream(), at, at + 1);
            }
            assertThat(shell.received).isEqualTo(golden.pdus());
            assertThat(shell.reader.inPdu()).isFalse();
        }
    }

    private static Direction read(String capture, String direction) throws IOException {
        List<String> lines;
        String name = "/golden/" + capture + ".hex";
        try (InputStream in = GoldenFramingTest.class.getResourceAsStream(name)) {
            lines = new String(Objects.requireNonNull(in, name).readAllBytes(),
                    StandardCharsets.US_ASCII).lines().toList();
        }
        String digests = lines.stream().filter(line -> line.startsWith("digests ")).findFirst()
                .orElseThrow();
        boolean header = digests.contains("header=crc32c");
        var framing = new Framing(header, digests.contains("data=crc32c"), 1 << 18, 1020);
        int from = Integer.parseInt(digests, digests.indexOf("from=") + 5, digests.length(), 10);
        List<String> wires = lines.stream().filter(line -> line.matches("[IT] .*")).toList();
        List<FramedPdu> pdus = new ArrayList<>();
        var stream = new ByteArrayOutputStream();
        for (int i = 0; i < wires.size(); i++) {
            if (wires.get(i).startsWith(direction)) {
                String wire = wires.get(i).substring(2);
                pdus.add(FramedPdu.parse(wire, header && i >= from));
                stream.writeBytes(HexFormat.of().parseHex(wire));
            }
        }
        int before = (int) IntStream.range(0, from)
                .filter(i -> wires.get(i).startsWith(direction)).count();
        return new Direction(pdus, stream.toByteArray(), before, framing);
    }
}
