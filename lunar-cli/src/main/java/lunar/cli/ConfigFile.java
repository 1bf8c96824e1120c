package lunar.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/**
 * Reads the file of {@code serve --config}: every option of the command line under its own name, and any number of
 * targets.
 *
 * <pre>
 * portals = ["127.0.0.1:3260"]
 * state = "/var/lib/lunar"                  # reservations and saved mode pages
 * chap = "backup:@secret.txt"               # for every target that has none of its own
 *
 * [[target]]
 * iqn = "iqn.2026-11.org.example:disk"
 * luns = ["file:disk.img?size=10GiB", { uri = "ram:1GiB", removable = true }]
 * </pre>
 *
 * @param portals where to listen, empty if the file does not say
 * @param targets what to serve
 * @param allowAnonymous whether everybody may log in from other machines
 * @param headerDigest HeaderDigest
 * @param dataDigest DataDigest
 * @param state directory of the state that outlives the server
 */
record ConfigFile(List<Portal> portals, List<ServePlan.Target> targets, boolean allowAnonymous,
        Optional<Digest> headerDigest, Optional<Digest> dataDigest, Optional<Path> state) {
    private static final Set<String> KEYS = Set.of("portals", "iqn", "luns", "chap", "mutual-chap",
            "allow-anonymous", "header-digest", "data-digest", "state", "target");
    private static final Set<String> TARGET_KEYS = Set.of("iqn", "alias", "luns", "chap",
            "mutual-chap");
    private static final Set<String> LUN_KEYS = Set.of("uri", "removable", "rotational",
            "read-only", "thick");

    ConfigFile {
        portals = List.copyOf(portals);
        targets = List.copyOf(targets);
    }

    static ConfigFile read(Path path) throws Failure { return new Reader(path).read(); }

    /** Takes one file apart; every message names it. */
    private record Reader(Path path) {

        ConfigFile read() throws Failure {
            JsonNode root = tree();
            requireKnown(root, KEYS, "");
            var targets = new ArrayList<ServePlan.Target>();
            Optional<String> chap = text(root, "chap");
            Optional<String> mutual = text(root, "mutual-chap");
            if (root.has("luns")) {
                targets.add(
                        new ServePlan.Target(text(root, "iqn").orElse(RunningServer.DEFAULT_IQN),
                                "", luns(root), chap, mutual));
            } else if (root.has("iqn")) {
                throw wrong("'iqn' at the top needs 'luns' beside it");
            }
            for (JsonNode target : tables(root)) {
                targets.add(target(target, chap, mutual));
            }
            var portals = new ArrayList<Portal>();
            for (String portal : texts(root, "portals")) {
                portals.add(parsed("portals", portal, Portal::parse));
            }
            return new ConfigFile(portals, targets, flag(root, "allow-anonymous"),
                    digest(root, "header-digest"), digest(root, "data-digest"),
                    text(root, "state").map(Path::of));
        }

        private JsonNode tree() throws Failure {
            try {
                return new TomlMapper().readTree(Files.readString(path));
            } catch (NoSuchFileException e) {
                throw new Failure("config file " + path + " does not exist", e);
            } catch (IOException e) {
                throw new Failure("config file " + path + " cannot be read; check that it is a"
                        + " readable text file", e);
            } catch (JacksonException e) {
                var at = e.getLocation();
                throw new Failure("config file " + path
                        + (at == null ? "" : " line " + at.getLineNr())
                        + " is not TOML: " + e.getOriginalMessage(), e);
            }
        }

        private ServePlan.Target target(JsonNode table, Optional<String> chap,
                Optional<String> mutual) throws Failure {
            requireKnown(table, TARGET_KEYS, " of a target");
            String iqn = text(table, "iqn")
                    .orElseThrow(() -> wrong("a target has no 'iqn'; give it a name"));
            List<ServePlan.Lun> luns = luns(table);
            if (luns.isEmpty()) {
                throw wrong("target " + iqn + " has no 'luns'; name its devices");
            }
            Optional<String> own = text(table, "chap");
            return new ServePlan.Target(iqn, text(table, "alias").orElse(""), luns,
                    own.or(() -> chap),
                    text(table, "mutual-chap").or(() -> own.isPresent()
                            ? Optional.empty()
                            : mutual));
        }

        private List<ServePlan.Lun> luns(JsonNode table) throws Failure {
            JsonNode values = table.path("luns");
            if (!values.isMissingNode() && !values.isArray()) {
                throw wrong("'luns' must be a list, as in luns = [\"ram:1GiB\"]");
            }
            var list = new ArrayList<ServePlan.Lun>();
            for (JsonNode value : values) {
                if (value.isString()) {
                    list.add(ServePlan.Lun.of(value.stringValue()));
                } else if (value.isObject()) {
                    requireKnown(value, LUN_KEYS, " of a LUN");
                    list.add(new ServePlan.Lun(
                            text(value, "uri")
                                    .orElseThrow(
                                            () -> wrong("a LUN has no 'uri'; name its device")),
                            flag(value, "removable"), flag(value, "rotational"),
                            flag(value, "read-only"), flag(value, "thick")));
                } else {
                    throw wrong("'luns' must be a list of device URIs, or of tables as in"
                            + " { uri = \"ram:1GiB\", removable = true }");
                }
            }
            return list;
        }

        private List<JsonNode> tables(JsonNode root) throws Failure {
            var list = new ArrayList<JsonNode>();
            JsonNode tables = root.path("target");
            if (!tables.isMissingNode() && !tables.isArray()) {
                throw wrong("'target' must be a table of tables; begin each with [[target]]");
            }
            for (JsonNode table : tables) {
                if (!table.isObject()) {
                    throw wrong("'target' must be a table of tables; begin each with [[target]]");
                }
                list.add(table);
            }
            return list;
        }

        private void requireKnown(JsonNode table, Set<String> known, String of) throws Failure {
            for (String key : table.propertyNames()) {
                if (!known.contains(key)) {
                    throw wrong("unknown key '" + key + "'" + of + "; there are "
                            + String.join(", ", known.stream().sorted().toList()));
                }
            }
        }

        private Optional<String> text(JsonNode table, String key) throws Failure {
            JsonNode value = table.path(key);
            if (value.isMissingNode()) {
                return Optional.empty();
            }
            if (!value.isString()) {
                throw wrong("'" + key + "' must be a text in quotes");
            }
            return Optional.of(value.stringValue());
        }

        private List<String> texts(JsonNode table, String key) throws Failure {
            JsonNode values = table.path(key);
            var list = new ArrayList<String>();
            boolean right = values.isMissingNode() || values.isArray();
            for (JsonNode value : values) {
                right &= value.isString();
                list.add(value.asString(""));
            }
            if (!right) {
                throw wrong("'" + key + "' must be a list of texts, as in " + key + " = [\"...\"]");
            }
            return list;
        }

        private boolean flag(JsonNode table, String key) throws Failure {
            JsonNode value = table.path(key);
            if (!value.isMissingNode() && !value.isBoolean()) {
                throw wrong("'" + key + "' must be true or false");
            }
            return value.asBoolean(false);
        }

        private Optional<Digest> digest(JsonNode table, String key) throws Failure {
            Optional<String> text = text(table, key);
            return text.isEmpty()
                    ? Optional.empty()
                    : Optional.of(parsed(key, text.get(), Digest::parse));
        }

        private <T> T parsed(String key, String text, Function<String, T> parser)
                throws Failure {
            try {
                return parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw wrong("'" + key + "': " + e.getMessage());
            }
        }

        private Failure wrong(String what) {
            return new Failure("config file " + path + ": " + what);
        }
    }
}
