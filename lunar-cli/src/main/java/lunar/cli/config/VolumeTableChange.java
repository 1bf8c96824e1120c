package lunar.cli.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.DeviceUri;
import lunar.raid.service.VolumeStatus;

/**
 * Changes to a table of a config file so that it names the current members and spares of a volume.
 *
 * @param renamed new URIs by index among the members
 * @param more members to add
 * @param lessSpares spares to remove
 * @param moreSpares spares to add
 * @param hadJournal journal device that it names
 * @param journal actual journal device
 */
record VolumeTableChange(Map<Integer, String> renamed, List<String> more,
        List<String> lessSpares, List<String> moreSpares, Optional<String> hadJournal,
        Optional<String> journal) {
    private static final Pattern JOURNAL = Pattern
            .compile("(?m)^([ \\t]*journal[ \\t]*=[ \\t]*)(\"[^\"\\n]*\"|'[^'\\n]*')");
    private static final Pattern JOURNAL_LINE = Pattern
            .compile("(?m)\\n[ \\t]*journal[ \\t]*=.*$");

    /** A device that is not known to have left stays: it may be away. */
    static VolumeTableChange of(VolumeTable table, VolumeStatus now, Set<String> removed) {
        List<String> slots = now.slots().stream().map(VolumeStatus.Slot::uri).toList();
        var left = new TreeSet<Integer>();
        for (int i = 0; i < table.members().size(); i++) {
            if (!slots.contains(table.members().get(i))) {
                left.add(i);
            }
        }
        var renamed = new TreeMap<Integer, String>();
        var more = new ArrayList<String>();
        for (int slot = 0; slot < slots.size(); slot++) {
            String uri = slots.get(slot);
            if (uri.isEmpty() || table.members().contains(uri)) {
                continue;
            }
            if (left.isEmpty()) {
                more.add(uri);
            } else {
                Integer place = left.contains(slot) ? Integer.valueOf(slot) : left.first();
                left.remove(place);
                renamed.put(place, uri);
            }
        }
        List<String> less = table.spares().stream()
                .filter(uri -> slots.contains(uri) || removed.contains(uri)).toList();
        List<String> moreSpares = now.spares().stream().map(VolumeStatus.Spare::uri)
                .filter(uri -> !uri.isEmpty() && !table.spares().contains(uri)
                        && !table.members().contains(uri))
                .toList();
        return new VolumeTableChange(renamed, more, less, moreSpares, table.journal(),
                now.journal());
    }

    boolean isEmpty() {
        return renamed.isEmpty() && more.isEmpty() && lessSpares.isEmpty() && moreSpares.isEmpty()
                && hadJournal.equals(journal);
    }

    /** Whether a table says all of it. */
    boolean isMadeIn(VolumeTable table) {
        return table.members().containsAll(renamed.values()) && table.members().containsAll(more)
                && table.spares().containsAll(moreSpares)
                && lessSpares.stream().noneMatch(table.spares()::contains)
                && table.journal().equals(journal);
    }

    /** The text of a table with it; empty if it is written in a way that only a person can change. */
    Optional<String> in(String before) {
        Optional<String> text = Optional.of(before);
        for (var one : renamed.entrySet()) {
            text = text.flatMap(now -> TomlList.find(now, "members"))
                    .filter(list -> one.getKey() < list.size())
                    .map(list -> list.with(one.getKey(), one.getValue()));
        }
        for (String uri : more) {
            text = text.flatMap(now -> TomlList.find(now, "members")).map(list -> list.plus(uri));
        }
        return withSpares(text).flatMap(this::withJournal);
    }

    private Optional<String> withJournal(String table) {
        if (hadJournal.equals(journal)) {
            return Optional.of(table);
        }
        if (journal.isEmpty()) {
            return Optional.of(JOURNAL_LINE.matcher(table).replaceFirst(""));
        }
        String quoted = VolumeTable.quoted(journal.get());
        return hadJournal.isPresent()
                ? Optional.of(JOURNAL.matcher(table)
                        .replaceFirst("$1" + Matcher.quoteReplacement(quoted)))
                : TomlList.find(table, "members")
                        .map(list -> list.followedBy("journal = " + quoted));
    }

    private Optional<String> withSpares(Optional<String> before) {
        Optional<String> text = before;
        for (String uri : lessSpares) {
            text = text.flatMap(
                    now -> TomlList.find(now, "spares").flatMap(list -> list.without(uri)));
        }
        for (String uri : moreSpares) {
            text = text.flatMap(now -> {
                Optional<TomlList> spares = TomlList.find(now, "spares");
                return spares.isPresent()
                        ? spares.map(list -> list.plus(uri))
                        : TomlList.find(now, "members").map(list -> list
                                .followedBy("spares = [" + VolumeTable.quoted(uri) + "]"));
            });
        }
        return text;
    }

    /** Returns the URIs for a person to write into the table. */
    @Override
    public String toString() {
        var all = new ArrayList<String>(renamed.values());
        all.addAll(more);
        all.addAll(moreSpares);
        journal.ifPresent(all::add);
        return String.join(", ", all.stream().map(DeviceUri::withoutSecret).toList());
    }
}
