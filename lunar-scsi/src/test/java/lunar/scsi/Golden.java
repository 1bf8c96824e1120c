package lunar.scsi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** A command of a real initiator and the response of a real target. */
public record Golden(String source, MemorySegment cdb, int status, MemorySegment data,
        MemorySegment sense) {
    public static Stream<Golden> all() {
        try (var in = Golden.class.getResourceAsStream("/golden/commands.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> !line.startsWith("#")).map(Golden::parse);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the commands to a target whose CDB starts with these bytes. */
    public static List<Golden> find(String target, String cdbHex) {
        return all().filter(it -> it.source.contains(target)
                && Bytes.of(it.cdb).toString().startsWith(cdbHex)).toList();
    }

    public static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    private static Golden parse(String line) {
        String[] word = line.split(" ");
        return new Golden(word[0], bytes(word[1]), Integer.parseInt(word[2], 16), part(word[3]),
                part(word[4]));
    }

    private static MemorySegment part(String hex) { return bytes(hex.equals("-") ? "" : hex); }

    @Override
    public String toString() { return source + " " + Bytes.of(cdb); }
}
