package lunar.cli.config;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.ControlDirectory;
import lunar.raid.service.VolumeSpec;
import lunar.raid.service.VolumeStatus;

/**
 * Edits the {@code [[volume]]} tables of a config file in place: all other lines and comments stay unchanged. The
 * result is parsed before it replaces the file.
 */
public final class VolumeTableFile {
    private static final Pattern HEADER = Pattern
            .compile("\\s*\\[\\[?[A-Za-z0-9_. -]+]]?\\s*(#.*)?");
    private static final Pattern VOLUME = Pattern.compile("\\s*\\[\\[\\s*volume\\s*]]\\s*(#.*)?");

    private final Path path;

    public VolumeTableFile(Path path) { this.path = path; }

    /** A change of the file, made under the lock of the config files. */
    @FunctionalInterface
    private interface Change {
        void make() throws Failure, IOException;
    }

    private static void alone(Change change) throws Failure, IOException {
        try (var _ = ControlDirectory.ofUser().configs()) {
            change.make();
        }
    }

    /** Adds a table at the end; creates the file if it does not exist. */
    public void append(VolumeSpec spec, UUID uuid) throws Failure, IOException {
        alone(() -> appendNow(spec, uuid));
    }

    private void appendNow(VolumeSpec spec, UUID uuid) throws Failure, IOException {
        String before = Files.exists(path) ? Files.readString(path) : "";
        String gap = before.isEmpty() || before.endsWith("\n\n")
                ? ""
                : before.endsWith("\n") ? "\n" : "\n\n";
        write(before + gap + VolumeTable.text(spec, uuid));
    }

    /** Writes another URI in the place of one. */
    public void replace(String name, String before, String after) throws Failure, IOException {
        alone(() -> replaceNow(name, before, after));
    }

    private void replaceNow(String name, String before, String after)
            throws Failure, IOException {
        List<String> lines = lines();
        Range table = range(lines, name);
        boolean done = false;
        for (int at = table.from(); at < table.end() && !done; at++) {
            String line = lines.get(at);
            String changed = line.replace(VolumeTable.quoted(before), VolumeTable.quoted(after))
                    .replace("'" + before + "'", VolumeTable.quoted(after));
            done = !changed.equals(line);
            lines.set(at, changed);
        }
        if (!done) {
            throw new Failure("config file " + path + " does not name " + before + " in volume '"
                    + name + "' in this form: replace it by " + after + " by hand");
        }
        write(text(lines));
        if (table(name).stream()
                .noneMatch(one -> one.members().contains(after) || one.spares().contains(after))) {
            throw new Failure("config file " + path + ": volume '" + name
                    + "' could not be changed; replace " + before + " by " + after + " by hand");
        }
    }

    /**
     * Has a table name the members, spares and journal that a volume has; nothing where it is no table of that volume.
     *
     * @param removed spares that are none any longer
     */
    void update(String name, VolumeStatus now, Set<String> removed) throws Failure, IOException {
        alone(() -> updateNow(name, now, removed));
    }

    private void updateNow(String name, VolumeStatus now, Set<String> removed)
            throws Failure, IOException {
        Optional<VolumeTable> table = Files.exists(path) ? table(name) : Optional.empty();
        if (table.isEmpty() || !table.get().uuid().orElse(now.uuid()).equals(now.uuid())) {
            return;
        }
        var changes = VolumeTableChange.of(table.get(), now, removed);
        if (changes.isEmpty()) {
            return;
        }
        List<String> lines = lines();
        Range range = range(lines, name);
        List<String> own = lines.subList(range.from(), range.end());
        Optional<String> changed = changes.in(text(own));
        if (changed.isPresent()) {
            own.clear();
            own.addAll(List.of(changed.get().split("\n", -1)));
            write(text(lines));
        }
        if (!table(name).filter(changes::isMadeIn).isPresent()) {
            throw new Failure("config file " + path + ": volume '" + name
                    + "' could not be changed; write " + changes + " by hand");
        }
    }

    private Optional<VolumeTable> table(String name) throws Failure {
        return VolumeTable.read(path).stream()
                .filter(one -> one.name().equals(name)).findFirst();
    }

    /** Takes a table out. */
    public void remove(String name) throws Failure, IOException {
        alone(() -> removeNow(name));
    }

    private void removeNow(String name) throws Failure, IOException {
        List<String> lines = lines();
        Range table = range(lines, name);
        int end = table.end();
        while (end < lines.size() && end > table.from() && lines.get(end).isBlank()) {
            end++;
        }
        lines.subList(table.from(), end).clear();
        write(text(lines));
    }

    private List<String> lines() throws IOException {
        return new ArrayList<>(List.of(Files.readString(path).split("\n", -1)));
    }

    private static String text(List<String> lines) { return String.join("\n", lines); }

    /** Lines from one to before another. */
    private record Range(int from, int end) {}

    /** The lines of a table; comments before the next table belong to that. */
    private Range range(List<String> lines, String name) throws Failure {
        var isNamed = Pattern.compile("\\s*name\\s*=\\s*[\"']" + Pattern.quote(name)
                + "[\"']\\s*(#.*)?");
        int from = -1;
        boolean found = false;
        for (int at = 0; at <= lines.size(); at++) {
            boolean ends = at == lines.size() || HEADER.matcher(lines.get(at)).matches();
            if (ends && found) {
                return new Range(from, end(lines, from, at));
            }
            if (ends && at < lines.size()) {
                from = VOLUME.matcher(lines.get(at)).matches() ? at : -1;
            } else if (!ends && from >= 0) {
                found |= isNamed.matcher(lines.get(at)).matches();
            }
        }
        throw new Failure("config file " + path + " has no [[volume]] with name = \"" + name
                + "\" on separate lines: change it by hand");
    }

    private static int end(List<String> lines, int from, int next) {
        int end = next;
        while (end > from + 1 && (lines.get(end - 1).isBlank()
                || lines.get(end - 1).strip().startsWith("#"))) {
            end--;
        }
        return end;
    }

    /** Replaces the file; the new one is on stable storage before it gets the name. */
    private void write(String text) throws Failure, IOException {
        Path file = path.toAbsolutePath();
        Path replaced = Files.exists(file) ? file.toRealPath() : file;
        Path fresh = Files.createTempFile(folder(file), ".lunar", ".toml");
        boolean done = false;
        try {
            Files.writeString(fresh, text);
            var _ = VolumeTable.read(fresh);
            if (Files.exists(file)) {
                Files.setPosixFilePermissions(fresh, Files.getPosixFilePermissions(file));
            }
            force(fresh);
            Files.move(fresh, replaced, StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            done = true;
            force(folder(replaced)); // the rename itself
        } finally {
            if (!done) {
                Files.deleteIfExists(fresh);
            }
        }
    }

    private static Path folder(Path file) {
        return Optional.ofNullable(file.getParent()).orElse(file);
    }

    private static void force(Path fileOrFolder) throws IOException {
        try (FileChannel channel = FileChannel.open(fileOrFolder)) {
            channel.force(true);
        }
    }
}
