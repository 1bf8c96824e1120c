package lunar.cli.bench;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Requests of a bench to a device.
 *
 * @param pattern where and which way
 * @param requestBytes bytes of a request
 * @param depth requests each load keeps in flight
 * @param loads how many loads work on the device
 * @param readPercent share of reads of a mixed pattern
 * @param rampNs time that is not counted, for the code to become fast
 * @param timeNs time that is counted
 */
public record Workload(Pattern pattern, int requestBytes, int depth, int loads, int readPercent,
        long rampNs, long timeNs) {

    /** Where and which way. */
    public enum Pattern {
        RANDREAD(true), RANDWRITE(true), READ(false), WRITE(false), RANDRW(true);

        private final boolean random;

        Pattern(boolean random) { this.random = random; }

        boolean isRandom() { return random; }

        boolean writes() { return this == RANDWRITE || this == WRITE || this == RANDRW; }

        /** Converts the option of this type. */
        static final class Converter implements ITypeConverter<Pattern> {
            @Override
            public Pattern convert(String value) {
                for (Pattern pattern : values()) {
                    if (pattern.toString().equals(value)) {
                        return pattern;
                    }
                }
                throw new TypeConversionException("'" + value
                        + "' is not one of randread, randwrite, read, write, randrw");
            }
        }

        @Override
        public String toString() { return name().toLowerCase(Locale.ROOT); }
    }

    /** Share of reads, whatever the pattern. */
    int readShare() {
        return switch (pattern) {
            case RANDREAD, READ -> 100;
            case RANDWRITE, WRITE -> 0;
            case RANDRW -> readPercent;
        };
    }
}
