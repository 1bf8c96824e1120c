package lunar.cli.config;

import lunar.cli.command.Failure;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.iscsi.text.TargetAddress;
import lunar.server.ServerPlan;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Address in text form: {@code HOST}, {@code HOST:PORT}, {@code [IPV6]:PORT}.
 *
 * @param host name or address, without brackets
 * @param port 0 to 65535
 */
public record Portal(String host, int port) {
    /** Default address of {@code serve}. */
    public static final Portal DEFAULT = new Portal("127.0.0.1", TargetAddress.DEFAULT_PORT);

    private static final Pattern FORM = Pattern
            .compile("(\\[[0-9a-fA-F:.%]+]|[^:\\[\\]\\s/]+)(?::(\\d{1,5}))?");

    /** @throws IllegalArgumentException with one line for the user */
    public static Portal parse(String text) {
        return parse(text, TargetAddress.DEFAULT_PORT);
    }

    /** Parses a portal, with the port to take where none is given. */
    public static Portal parse(String text, int defaultPort) {
        Matcher matcher = FORM.matcher(text);
        int port = matcher.matches() && matcher.group(2) != null
                ? Integer.parseInt(matcher.group(2))
                : defaultPort;
        if (!matcher.matches() || port > 0xffff) {
            throw new IllegalArgumentException("'" + text
                    + "' is not HOST:PORT; write for example 127.0.0.1:" + defaultPort
                    + " or [::1]:" + defaultPort);
        }
        return new Portal(matcher.group(1).replaceAll("[\\[\\]]", ""), port);
    }

    /** The address to listen on or to connect to. */
    public InetSocketAddress resolve() throws Failure {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new Failure("unknown host '" + host + "'; check the name", e);
        }
    }

    /** A portal of the default group that listens there. */
    public ServerPlan.Listen listen() {
        return ServerPlan.Listen.on(host, port);
    }

    /** An address as text that {@link #parse} takes. */
    public static String text(InetSocketAddress address) {
        return new Portal(address.getAddress().getHostAddress(), address.getPort()).toString();
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    /** Converts options of this type. */
    public static final class Converter implements ITypeConverter<Portal> {
        @Override
        public Portal convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
