package lunar.cli.config;

import lunar.isns.IsnsServer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the address of an iSNS server: {@code HOST} or {@code HOST:PORT}, with or without {@code isns://}. */
public final class IsnsAddress {
    public static final String SCHEME = "isns://";

    private IsnsAddress() {}

    /** @throws IllegalArgumentException with one line for the user */
    static IsnsServer parse(String text) {
        Portal place = Portal.parse(
                text.startsWith(SCHEME) ? text.substring(SCHEME.length()) : text,
                IsnsServer.DEFAULT_PORT);
        if (place.port() == 0) {
            throw new IllegalArgumentException(
                    "port 0 is not a valid port to connect to; write for example "
                            + new Portal(place.host(), IsnsServer.DEFAULT_PORT));
        }
        return new IsnsServer(place.host(), place.port());
    }

    /** Converts options of this type. */
    public static final class Converter implements ITypeConverter<IsnsServer> {
        @Override
        public IsnsServer convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
