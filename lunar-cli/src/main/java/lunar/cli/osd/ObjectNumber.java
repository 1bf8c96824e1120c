package lunar.cli.osd;

import java.util.Locale;
import lunar.osd.wire.ObjectId;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Identifiers of partitions and objects on the command line: decimal, or hexadecimal with 0x. */
final class ObjectNumber {
    /** Converts an argument. */
    static final class Converter implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            long number;
            try {
                number = parse(value);
            } catch (NumberFormatException _) {
                throw new TypeConversionException("'" + value
                        + "' is not the number of a partition or object; write for example 0x10000");
            }
            if (Long.compareUnsigned(number, ObjectId.FIRST) < 0) {
                throw new TypeConversionException("'" + value
                        + "' is too small: partitions and objects are numbered from 0x10000 on");
            }
            return number;
        }
    }

    private ObjectNumber() {}

    /** Parses an unsigned number of 64 bits. */
    static long parse(String text) {
        return text.regionMatches(true, 0, "0x", 0, 2)
                ? Long.parseUnsignedLong(text.substring(2), 16)
                : Long.parseUnsignedLong(text);
    }

    /** Writes an identifier as it can be given. */
    static String format(long id) {
        return "0x" + Long.toHexString(id).toLowerCase(Locale.ROOT);
    }

    /** Writes the identifiers of an object, or of a partition alone. */
    static String format(ObjectId id) {
        return format(id.partition()) + (id.object() == 0 ? "" : " " + format(id.object()));
    }
}
