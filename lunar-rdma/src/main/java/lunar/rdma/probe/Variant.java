package lunar.rdma.probe;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the bytes of a message get from the Java heap to registered memory and back, as in Javia-I. */
public enum Variant {
    /** A send copies from an array to a registered slice; a receive copies to an existing array. */
    COPY(1),
    /** Like {@link #COPY}, but a receive copies to a new array. */
    COPY_ALLOC(2),
    /** Messages stay in registered memory. */
    ZERO_COPY(3),
    /** A send registers its memory and deregisters it afterwards; a receive leaves the message in registered memory. */
    PIN(4);

    private final int code;

    Variant(int code) { this.code = code; }

    /** Code of the variant in a {@link ProbeTask}. */
    int code() { return code; }

    /** Returns the variant of a code; null if there is none. */
    static @Nullable Variant of(int code) {
        for (Variant variant : values()) {
            if (variant.code == code) {
                return variant;
            }
        }
        return null;
    }

    /** Returns the name in lower case, with dashes. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Returns the variant of a {@link #text}.
     *
     * @throws IllegalArgumentException if there is none; the message lists the variants
     */
    public static Variant of(String text) {
        for (Variant variant : values()) {
            if (variant.text().equals(text)) {
                return variant;
            }
        }
        throw new IllegalArgumentException(
                "unknown variant '" + text + "': must be copy, copy-alloc, zero-copy or pin");
    }
}
