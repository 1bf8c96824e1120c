package lunar.cli.osd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import lunar.block.PrivateFile;
import lunar.cli.command.Failure;

/** Files with keys or credentials, which other users cannot read. */
final class SecretFile {
    private static final int MAX_BYTES = 1 << 20;

    private SecretFile() {}

    /** Reads a file; the parser throws IllegalArgumentException with what is wrong with it. */
    static <T> T read(Path file, Function<List<String>, T> parser) throws IOException, Failure {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(file);
        if (exposure.isPresent()) {
            throw new Failure(file + " " + exposure.get());
        }
        if (Files.size(file) > MAX_BYTES) {
            throw new Failure(file + " is too long");
        }
        try {
            return parser.apply(Files.readAllLines(file));
        } catch (IllegalArgumentException e) {
            throw new Failure(file + " " + e.getMessage(), e);
        }
    }

    /** Writes a new file; fails if there is one already. */
    static void create(Path file, String text) throws IOException {
        PrivateFile.create(file, text.getBytes(StandardCharsets.US_ASCII));
    }
}
