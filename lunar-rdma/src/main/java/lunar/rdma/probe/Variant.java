package lunar.rdma.probe;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the bytes of a message cross the border between the collected heap and registered memory, as in Javia-I. */
public enum Variant {
    /** A send copies from an array to a registered slice; a receive copies to an array that exists. */
    COPY(1),
    /** Like {@link #COPY}, but a receive copies to a new array. */
    COPY_ALLOC(2),
    /** Messages stay in registered memory. */
    ZERO_COPY(3),
    /** A send registers its memory and deregisters it afterwards; a receive leaves the message where it is. */
    PIN(4);

    private final int code;

    Variant(int code) { this.code = code; }

    /** Number in a {@link ProbeTask}. */
    int code() { return code; }

    /** Finds a variant by its number; null for none. */
    static @Nullable Variant of(int code) {
        for (Variant variant : values()) {
            if (variant.code == code) {
                return variant;
            }
        }
        return null;
    }

    /** Name in lower case, with dashes. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Finds a variant by its {@link #text}.
     *
     * @throws IllegalArgumentException with a message that lists them
     */
    public static Variant of(String text) {
        for (Variant variant : values()) {
            if (variant.text().equals(text)) {
                return variant;
            }
        }
        throw new IllegalArgumentException(
                "no variant '" + text + "'; write copy, copy-alloc, zero-copy or pin");
    }
}
