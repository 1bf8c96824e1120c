package lunar.cli.command;

import java.io.IOException;
import java.util.Objects;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, from the resource that the build writes beside this class. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        return new String[]{"lunar " + number() + " (Java " + Runtime.version() + ")"};
    }

    /** Returns the version alone. */
    public static String number() throws IOException {
        try (var in = Version.class.getResourceAsStream("version.properties")) {
            var properties = new Properties();
            properties.load(Objects.requireNonNull(in, "no version.properties beside this class"));
            return properties.getProperty("version");
        }
    }
}
