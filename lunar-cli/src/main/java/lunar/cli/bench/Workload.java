package lunar.cli.bench;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Workload of a benchmark on a device.
 *
 * @param pattern access pattern
 * @param requestBytes size of a request
 * @param depth number of requests that each load keeps in flight
 * @param loads number of loads on the device
 * @param readPercent share of reads of a mixed pattern
 * @param rampNs warm-up time, not measured
 * @param timeNs measured time
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
