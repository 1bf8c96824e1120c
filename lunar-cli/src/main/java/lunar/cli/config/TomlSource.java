package lunar.cli.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tomlj.TomlPosition;

/**
 * The text of a config file, in which the places of the elements of lists are found: the parser takes an element that
 * begins a line to begin at the break of the line before.
 */
final class TomlSource {
    /** Longest file; a configuration of thousands of targets has a tenth of it. */
    static final int MAX_BYTES = 16 << 20;

    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private final String text;
    private final int[] characters;
    /** Index of the first character of each line. */
    private final List<Integer> lines = new ArrayList<>();

    /** @param text text of the file; a byte order mark at its beginning is left out */
    TomlSource(String text) {
        this.text = text.startsWith(BYTE_ORDER_MARK)
                ? text.substring(BYTE_ORDER_MARK.length())
                : text;
        characters = this.text.codePoints().toArray();
        lines.add(0);
        for (int i = 0; i < characters.length; i++) {
            if (characters[i] == '\n') {
                lines.add(i + 1);
            }
        }
    }

    /** @throws IOException if the file cannot be read, is not UTF-8, or is longer than {@value #MAX_BYTES} bytes */
    static TomlSource read(Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new IOException("longer than " + MAX_BYTES + " bytes");
            }
            return new TomlSource(
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        }
    }

    String text() { return text; }

    /** Returns where an element of a list begins, which the parser has found at a position. */
    Place element(@Nullable TomlPosition position) {
        Place place = Place.of(position);
        if (place.line() > lines.size()) {
            return place;
        }
        int at = lines.get(place.line() - 1) + place.column() - 1;
        int line = place.line();
        while (at < characters.length) {
            int next = characters[at];
            if (next == '#') {
                while (at < characters.length && characters[at] != '\n') {
                    at++;
                }
            } else if (next == '\n') {
                at++;
                line++;
            } else if (next == ' ' || next == '\t' || next == '\r') {
                at++;
            } else {
                return new Place(line, at - lines.get(line - 1) + 1);
            }
        }
        return place;
    }
}
