package lunar.cli.osd;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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

    /** Writes a new file of mode 600; fails if there is one already. */
    static void create(Path file, String text) throws IOException {
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] mode = posix
                ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(
                        PosixFilePermissions.fromString("rw-------"))}
                : new FileAttribute<?>[0];
        try (var out = Files.newByteChannel(file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            var bytes = ByteBuffer
                    .wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                int _ = out.write(bytes);
            }
        }
    }
}
