package lunar.cli.config;

import java.util.Locale;
import lunar.iscsi.login.DigestChoice;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Configured choice of a digest. */
public enum Digest {
    /** Never. */
    NONE(DigestChoice.NONE),
    /** If the peer asks for it. */
    ALLOW(DigestChoice.PREFER_NONE),
    /** If the peer can. */
    PREFER(DigestChoice.PREFER_CRC32C),
    /** No session without. */
    REQUIRE(DigestChoice.REQUIRE_CRC32C);

    private final DigestChoice choice;

    Digest(DigestChoice choice) { this.choice = choice; }

    public DigestChoice choice() { return choice; }

    /** Its word in config files. */
    String text() { return name().toLowerCase(Locale.ROOT); }

    /** @throws IllegalArgumentException with one line for the user */
    static Digest parse(String text) {
        for (Digest digest : values()) {
            if (digest.name().equalsIgnoreCase(text)) {
                return digest;
            }
        }
        throw new IllegalArgumentException(
                "'" + text + "' is not one of none, allow, prefer, require");
    }

    /** Converts options of this type. */
    public static final class Converter implements ITypeConverter<Digest> {
        @Override
        public Digest convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
