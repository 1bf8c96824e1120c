package lunar.cli.browse;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Content-Type of files, by the name's extension, or plain text by content. */
final class MediaTypes {
    static final String BYTES = "application/octet-stream";
    static final String TEXT = "text/plain; charset=utf-8";

    private static final Map<String, String> TYPES = types(
            """
                    text/html html htm
                    application/xhtml+xml xhtml
                    text/css css
                    text/javascript js mjs
                    text/csv csv
                            application/json json
                    application/xml xml
                    application/pdf pdf
                    application/wasm wasm
                    application/zip zip
                    application/gzip gz tgz
                    application/x-bzip2 bz2
                    application/x-xz xz
                    application/zstd zst
                    application/x-tar tar
                    application/java-archive jar
                    application/vnd.debian.binary-package deb
                    image/png png
                    image/jpeg jpg jpeg
                    image/gif gif
                    image/webp webp
                    image/avif avif
                    image/svg+xml svg
                    image/bmp bmp
                    image/tiff tif tiff
                    image/x-icon ico
                    audio/mpeg mp3
                    audio/ogg ogg oga opus
                    audio/flac flac
                    audio/wav wav
                    audio/mp4 m4a
                    video/mp4 mp4 m4v
                    video/webm webm
                    video/x-matroska mkv
                    video/quicktime mov
                    font/woff woff
                    font/woff2 woff2
                    font/ttf ttf
                    font/otf otf
                    text/plain;charset=utf-8 txt text md log conf cfg ini sh py c h cc cpp hpp java rs go toml yaml yml service
                    """);

    private MediaTypes() {}

    private static Map<String, String> types(String lines) {
        var types = new HashMap<String, String>();
        lines.lines().forEach(line -> {
            String[] words = line.split(" ", -1);
            for (int i = 1; i < words.length; i++) {
                types.put(words[i], words[0].replace(";", "; "));
            }
        });
        return Map.copyOf(types);
    }

    /**
     * The type of a file.
     *
     * @param start its first bytes
     * @param count how many of them there are
     */
    static String of(String name, byte[] start, int count) {
        int dot = name.lastIndexOf('.');
        String known = dot > 0
                ? TYPES.get(name.substring(dot + 1).toLowerCase(Locale.ROOT))
                : null;
        if (known != null) {
            return known;
        }
        return isText(start, count) ? TEXT : BYTES;
    }

    /** Whether the bytes are UTF-8, possibly truncated, without control characters except white space. */
    private static boolean isText(byte[] start, int count) {
        CharBuffer text = CharBuffer.allocate(count);
        CoderResult result = StandardCharsets.UTF_8.newDecoder()
                .decode(ByteBuffer.wrap(start, 0, count), text, false);
        return !result.isError() && text.flip().chars()
                .noneMatch(c -> (c < ' ' && "\t\n\r\f\u001b".indexOf(c) < 0) || c == 0x7f);
    }
}
