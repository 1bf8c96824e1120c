package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Folder with a config file and members in files beside it, and the commands on their volumes. */
record RaidFolder(Path folder) {
    /** Of a member that is yet to be made. */
    static final String SIZE = "?size=4MiB";

    Path config() { return folder.resolve("lunar.toml"); }

    Path path(String name) { return folder.resolve(name); }

    String file(String name) { return "file:" + path(name); }

    /** Any command, with the config file. */
    CommandRun run(String... words) {
        var args = new ArrayList<>(List.of(words));
        args.addAll(List.of("--config", config().toString()));
        return CommandRun.of(args.toArray(String[]::new));
    }

    /** {@code lunar raid} with the config file. */
    CommandRun raid(String... words) {
        var args = new ArrayList<>(List.of("raid"));
        args.addAll(List.of(words));
        return run(args.toArray(String[]::new));
    }

    /** A new volume of members {@code m0} and on. */
    CommandRun create(String volume, int members, String... more) {
        var args = new ArrayList<>(List.of("create", volume));
        for (int i = 0; i < members; i++) {
            args.add(file("m" + i) + SIZE);
        }
        args.addAll(List.of(more));
        return raid(args.toArray(String[]::new)).succeeds();
    }

    /** Returns the JSON output of a successful command. */
    static JsonNode json(CommandRun run) {
        return JsonMapper.builder().build().readTree(run.succeeds().out());
    }

    /** The status of a volume, sound or not. */
    JsonNode status(String volume) {
        CommandRun run = raid("status", volume, "--json");
        assertThat(run.status()).as(run.err()).isIn(0, 3);
        return JsonMapper.builder().build().readTree(run.out());
    }
}
