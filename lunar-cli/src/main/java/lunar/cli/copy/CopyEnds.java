package lunar.cli.copy;

import lunar.cli.command.Failure;
import lunar.cli.config.NewFiles;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import lunar.block.BlockDevice;
import lunar.block.Size;

/**
 * Source and destination of a copy. A plain path is a file; the source is opened read-only, and a missing destination
 * file is created with the source's size.
 */
final class CopyEnds {
    /** A scheme, or a filter with its settings; then anything. */
    private static final Pattern URI = Pattern.compile("[a-zA-Z][a-zA-Z0-9]*(=[^:]*)?:.*");

    private final String source;
    private final String destination;
    private final Optional<Path> newFile;
    private final boolean emptyFile;

    private CopyEnds(String source, String destination, Optional<Path> newFile,
            boolean emptyFile) {
        this.source = source;
        this.destination = destination;
        this.newFile = newFile;
        this.emptyFile = emptyFile;
    }

    static CopyEnds of(String from, String to) throws Failure {
        String source = uri(from);
        String destination = uri(to);
        if (source.equals(destination) && !isMemory(source)) {
            throw new Failure("source and destination are both " + from
                    + "; specify two different ones");
        }
        Optional<Path> file = NewFiles.file(destination);
        return new CopyEnds(source, destination, file.filter(path -> !Files.exists(path)),
                file.isPresent() && Files.isRegularFile(file.get())
                        && file.get().toFile().length() == 0);
    }

    private static String uri(String text) {
        return URI.matcher(text).matches() ? text : "file:" + text;
    }

    private static boolean isMemory(String uri) { return uri.startsWith("ram:"); }

    String sourceUri() {
        boolean local = source.startsWith("file:") || source.startsWith("disk:");
        return local && !has(source, "read-only") && !has(source, "size")
                ? with(source, "read-only=true")
                : source;
    }

    String destinationUri(BlockDevice from) {
        return (newFile.isPresent() || emptyFile) && !has(destination, "size")
                ? with(destination, "size=" + from.sizeBytes())
                : destination;
    }

    /** Whether the destination is new; must be called before it is opened. */
    boolean isFresh() {
        return newFile.isPresent() || emptyFile || isMemory(destination);
    }

    /** Removes the created destination file of an incomplete copy. */
    void removeWhatWasCreated() throws IOException {
        if (newFile.isPresent()) {
            Files.deleteIfExists(newFile.get());
        }
    }

    private static boolean has(String uri, String option) {
        return uri.matches(".*[?&]" + option + "=.*");
    }

    private static String with(String uri, String option) {
        return uri + (uri.indexOf('?') < 0 ? "?" : "&") + option;
    }

    /** Refuses, before anything is written, what cannot end well. */
    static void requireFit(BlockDevice from, BlockDevice to, String destination) throws Failure {
        if (to.readOnly()) {
            throw new Failure(destination + " is read-only; copy to another device");
        }
        if (to.sizeBytes() < from.sizeBytes()) {
            throw new Failure(destination + " has " + to.sizeBytes() + " bytes ("
                    + Size.format(to.sizeBytes()) + "), less than the source's " + from.sizeBytes()
                    + " (" + Size.format(from.sizeBytes()) + "); copy to a larger device");
        }
        if (from.sizeBytes() % to.blockSize() != 0) {
            throw new Failure("the source's " + from.sizeBytes()
                    + " bytes are not a multiple of the destination's blocks of " + to.blockSize()
                    + " bytes; copy to a device with smaller blocks");
        }
    }

    /** Bytes of a request that both devices take. */
    static int chunkBytes(BlockDevice from, BlockDevice to, long wantedBytes) {
        long longest = Math.min((long) from.limits().maxTransferBlocks() * from.blockSize(),
                (long) to.limits().maxTransferBlocks() * to.blockSize());
        int unit = Math.max(from.blockSize(), to.blockSize());
        long bytes = Math.min(Math.min(wantedBytes, longest), from.sizeBytes());
        return (int) Math.max(unit, bytes - bytes % unit);
    }
}
