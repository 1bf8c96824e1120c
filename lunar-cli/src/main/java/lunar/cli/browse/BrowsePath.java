package lunar.cli.browse;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.fs.Names;

/**
 * Path of a URL: a volume and names in a file system. Names that are not text are encoded as bytes.
 *
 * @param volume number of the volume
 * @param names from the root of its file system down; none is {@code .}, {@code ..} or has a {@code /}
 * @param endsWithSlash whether the URL names a directory
 */
record BrowsePath(long volume, List<String> names, boolean endsWithSlash) {
    private static final int MAX_VOLUME_DIGITS = 6;
    private static final String UNRESERVED = "-._~!$'()*,;=@";

    BrowsePath {
        names = List.copyOf(names);
    }

    /**
     * Parses the path of a URL.
     *
     * @param raw the undecoded path, with percent encoding; begins with a slash
     * @return empty if it is not such a path
     */
    static Optional<BrowsePath> parse(String raw) {
        String[] parts = raw.split("/", -1);
        if (parts.length < 2 || !parts[0].isEmpty() || parts[1].isEmpty()
                || parts[1].length() > MAX_VOLUME_DIGITS
                || !parts[1].chars().allMatch(c -> c >= '0' && c <= '9')) {
            return Optional.empty();
        }
        var names = new ArrayList<String>();
        for (int i = 2; i < parts.length; i++) {
            if (parts[i].isEmpty() && i == parts.length - 1) {
                break;
            }
            Optional<String> name = decode(parts[i]);
            if (name.isEmpty() || name.get().isEmpty() || name.get().equals(".")
                    || name.get().equals("..") || name.get().indexOf('/') >= 0) {
                return Optional.empty();
            }
            names.add(name.get());
        }
        return Optional.of(new BrowsePath(Long.parseLong(parts[1]), names,
                parts.length > 2 && parts[parts.length - 1].isEmpty()));
    }

    private static Optional<String> decode(String part) {
        var bytes = new ByteArrayOutputStream();
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c == '%') {
                int high = i + 2 < part.length() ? Character.digit(part.charAt(i + 1), 16) : -1;
                int low = i + 2 < part.length() ? Character.digit(part.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    return Optional.empty();
                }
                bytes.write(high * 16 + low);
                i += 2;
            } else {
                bytes.writeBytes(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
            }
        }
        return Optional.of(Names.decode(bytes.toByteArray()));
    }

    /** A name as a part of a URL. */
    static String encode(String name) {
        var text = new StringBuilder();
        for (byte b : Names.encode(name)) {
            int c = b & 0xff;
            if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                    || UNRESERVED.indexOf(c) >= 0) {
                text.append((char) c);
            } else {
                text.append('%').append("0123456789ABCDEF".charAt(c >> 4))
                        .append("0123456789ABCDEF".charAt(c & 0xf));
            }
        }
        return text.toString();
    }

    /** The path in the file system. */
    String inFileSystem() {
        return "/" + String.join("/", names);
    }

    /** URL of the first so many names, which are a directory. */
    String href(int count) {
        var text = new StringBuilder("/").append(volume).append('/');
        names.subList(0, count).forEach(name -> text.append(encode(name)).append('/'));
        return text.toString();
    }
}
