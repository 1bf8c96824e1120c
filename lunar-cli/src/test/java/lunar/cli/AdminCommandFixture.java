package lunar.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A folder with the config file of a server of one target, and commands that ask the server by its admin socket. */
abstract class AdminCommandFixture {
    @TempDir
    Path folder;

    private final String iqn;

    /** @param iqn name of the target */
    AdminCommandFixture(String iqn) { this.iqn = iqn; }

    Path socket() { return folder.resolve("admin.sock"); }

    CommandRun run(String... words) {
        var args = new ArrayList<>(List.of(words));
        args.addAll(List.of("--socket", socket().toString()));
        return CommandRun.of(args.toArray(String[]::new));
    }

    JsonNode json(String... words) {
        var args = new ArrayList<>(List.of(words));
        args.add("--json");
        return JsonMapper.builder().build()
                .readTree(run(args.toArray(String[]::new)).succeeds().out());
    }

    /** Writes the config file, and returns it. */
    Path config(String... luns) throws IOException {
        Path file = folder.resolve("lunar.toml");
        Files.writeString(file, "portals = [\"127.0.0.1:0\"]\n[admin]\nsocket = \"" + socket()
                + "\"\n[[target]]\niqn = \"" + iqn + "\"\nluns = [\"" + String.join("\", \"", luns)
                + "\"]\n");
        return file;
    }
}
