package lunar.cli.serve;

import lunar.iscsi.spi.Polling;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Polling times such as {@code auto} or {@code 50us}, for options. */
final class PollingConverter implements ITypeConverter<Polling> {
    @Override
    public Polling convert(String value) {
        try {
            return Polling.parse(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }
}
