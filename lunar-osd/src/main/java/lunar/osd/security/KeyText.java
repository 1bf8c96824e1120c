package lunar.osd.security;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.Bytes;

/**
 * Texts of keys and credentials, for files that no other user may read. Empty lines and lines that begin with {@code #}
 * are skipped; names and values are separated by a blank, values are hexadecimal.
 *
 * <pre>
 * authentication-key 40 digits          credential osd2 312 digits
 * generation-key 40 digits              credential osd2 312 digits
 * </pre>
 */
public final class KeyText {
    private static final String AUTHENTICATION = "authentication-key";
    private static final String GENERATION = "generation-key";
    private static final String CREDENTIAL = "credential";
    private static final String OSD_1 = "osd1";
    private static final String OSD_2 = "osd2";

    private KeyText() {}

    /** Writes a secret key. */
    public static String of(SecretKey key) {
        return AUTHENTICATION + ' ' + key.authentication() + '\n' + GENERATION + ' '
                + key.generation() + '\n';
    }

    /** Writes credentials. */
    public static String of(List<Credential> credentials) {
        var text = new StringBuilder();
        for (Credential each : credentials) {
            text.append(CREDENTIAL).append(' ')
                    .append(each.version() == OsdVersion.OSD_1 ? OSD_1 : OSD_2).append(' ')
                    .append(each.bytes()).append('\n');
        }
        return text.toString();
    }

    /**
     * Reads a secret key.
     *
     * @throws IllegalArgumentException if the text has none; the message does not repeat it
     */
    public static SecretKey key(List<String> lines) {
        Map<String, Bytes> halves = new HashMap<>();
        for (String[] fields : fields(lines)) {
            boolean half = fields.length == 2
                    && (fields[0].equals(AUTHENTICATION) || fields[0].equals(GENERATION));
            if (!half || halves.put(fields[0], hex(fields[1])) != null) {
                throw new IllegalArgumentException("is no key file: expected one line '"
                        + AUTHENTICATION + " HEX' and one '" + GENERATION + " HEX'");
            }
        }
        Bytes authentication = halves.getOrDefault(AUTHENTICATION, Bytes.EMPTY);
        Bytes generation = halves.getOrDefault(GENERATION, Bytes.EMPTY);
        if (authentication.length() != IntegrityCheck.LENGTH
                || generation.length() != IntegrityCheck.LENGTH) {
            throw new IllegalArgumentException("is no key file: each key has "
                    + 2 * IntegrityCheck.LENGTH + " hexadecimal digits");
        }
        return new SecretKey(authentication, generation);
    }

    /**
     * Reads credentials, at least one.
     *
     * @throws IllegalArgumentException if the text is malformed; the message does not repeat it
     */
    public static List<Credential> credentials(List<String> lines) {
        var all = new ArrayList<Credential>();
        for (String[] fields : fields(lines)) {
            boolean known = fields.length == 3 && fields[0].equals(CREDENTIAL)
                    && (fields[1].equals(OSD_1) || fields[1].equals(OSD_2));
            if (!known) {
                throw new IllegalArgumentException("is no credential file: expected lines '"
                        + CREDENTIAL + " osd2 HEX'");
            }
            all.add(Credential.decode(hex(fields[2]).segment(),
                    fields[1].equals(OSD_1) ? OsdVersion.OSD_1 : OsdVersion.OSD_2));
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException("has no credential");
        }
        return all;
    }

    private static List<String[]> fields(List<String> lines) {
        return lines.stream().map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .map(line -> line.split("\\s+", -1)).toList();
    }

    private static Bytes hex(String digits) {
        try {
            return Bytes.of(HexFormat.of().parseHex(digits));
        } catch (IllegalArgumentException _) {
            throw new IllegalArgumentException("has a value that is not hexadecimal");
        }
    }
}
