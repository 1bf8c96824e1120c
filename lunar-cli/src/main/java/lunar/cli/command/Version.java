package lunar.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Tells the version that the build wrote beside this class. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        return new String[]{"lunar " + number() + " (Java " + Runtime.version() + ")"};
    }

    private static String number() throws IOException {
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            if (in == null) {
                return "of an unknown build";
            }
            var properties = new Properties();
            properties.load(in);
            return properties.getProperty("version", "of an unknown build");
        }
    }
}
