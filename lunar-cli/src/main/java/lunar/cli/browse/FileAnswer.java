package lunar.cli.browse;

import com.sun.net.httpserver.Headers;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import lunar.fs.FileSystemView;
import lunar.fs.Node;
import org.jspecify.annotations.Nullable;

/** Sends a file, or a range of it. */
final class FileAnswer {
    /** No scripts, plug-ins, forms or external resources, and a unique origin. */
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int LOOK_BYTES = 4096;
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter
            .ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final Answer answer;
    private final long volume;
    private final FileSystemView files;
    private final Node file;
    private final String name;

    FileAnswer(Answer answer, long volume, FileSystemView files, Node file, String name) {
        this.answer = answer;
        this.volume = volume;
        this.files = files;
        this.file = file;
        this.name = name;
    }

    /** @param download whether the browser shall save it, whatever it is */
    void send(boolean download) throws IOException {
        Headers request = answer.exchange().getRequestHeaders();
        answer.header("Content-Security-Policy", POLICY).header("ETag", tag())
                .header("Accept-Ranges", "bytes");
        lastModified().ifPresent(time -> answer.header("Last-Modified", HTTP_DATE.format(time)));
        if (isKnown(request)) {
            answer.start(304, Answer.NO_BODY);
            return;
        }
        long size = file.sizeBytes();
        Optional<ByteRange> range = Optional.ofNullable(request.getFirst("Range"))
                .filter(_ -> isStill(request.getFirst("If-Range")))
                .flatMap(header -> ByteRange.parse(header, size));
        range.ifPresent(part -> answer.header("Content-Range", part.contentRange(size)));
        if (range.isPresent() && !range.get().isSatisfiable()) {
            answer.start(416, 0);
            return;
        }
        var part = range.orElse(new ByteRange(0, size));
        try (SeekableByteChannel channel = files.newChannel(file)) {
            ByteBuffer look = ByteBuffer.allocate((int) Math.min(size, LOOK_BYTES));
            fill(channel, look);
            answer.header("Content-Type", MediaTypes.of(name, look.array(), look.position()))
                    .header("Content-Disposition",
                            Answer.disposition(download ? "attachment" : "inline", name));
            send(channel, part, range.isPresent() ? 206 : 200);
        }
    }

    /** The first bytes are read before the answer starts, so that a damaged file is told as such. */
    private void send(SeekableByteChannel channel, ByteRange part, int status)
            throws IOException {
        channel.position(part.first());
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(part.count(), BUFFER_BYTES));
        fill(channel, buffer);
        answer.start(status, part.count());
        if (answer.isHead() || part.count() == 0) {
            return;
        }
        OutputStream body = answer.exchange().getResponseBody();
        long left = part.count();
        while (true) {
            body.write(buffer.array(), 0, buffer.position());
            left -= buffer.position();
            if (left == 0) {
                body.close();
                return;
            }
            buffer.clear().limit((int) Math.min(left, buffer.capacity()));
            fill(channel, buffer);
        }
    }

    private static void fill(SeekableByteChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new IOException("the file was truncated while it was read");
            }
        }
    }

    /** Returns a tag that changes when the file is written: with the time, or at least the length, in the inode. */
    private String tag() {
        Instant time = file.modified().orElse(Instant.EPOCH);
        return String.format(Locale.ROOT, "\"%x-%x-%x-%x.%x\"", volume, file.id(),
                file.sizeBytes(), time.getEpochSecond(), time.getNano());
    }

    /** Returns the modification time, unless it is in the future (RFC 9110, section 8.8.2.1). */
    private Optional<Instant> lastModified() {
        return file.modified().map(time -> time.truncatedTo(ChronoUnit.SECONDS))
                .filter(time -> time.isBefore(Instant.now())
                        && !time.isBefore(Instant.EPOCH));
    }

    private boolean isKnown(Headers request) {
        String tags = request.getFirst("If-None-Match");
        if (tags != null) {
            for (String tag : tags.split(",", -1)) {
                String plain = tag.strip().replaceFirst("^W/", "");
                if (plain.equals("*") || plain.equals(tag())) {
                    return true;
                }
            }
            return false;
        }
        return date(request.getFirst("If-Modified-Since"))
                .flatMap(since -> lastModified().map(time -> !time.isAfter(since)))
                .orElse(false);
    }

    /** Whether the client's version of the file is the current one. */
    private boolean isStill(@Nullable String condition) {
        if (condition == null || condition.equals(tag())) {
            return true;
        }
        return lastModified().isPresent() && date(condition).equals(lastModified());
    }

    private static Optional<Instant> date(@Nullable String header) {
        if (header == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Instant.from(HTTP_DATE.parse(header)));
        } catch (DateTimeException _) {
            return Optional.empty();
        }
    }
}
