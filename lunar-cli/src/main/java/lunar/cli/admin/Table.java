package lunar.cli.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Text in columns, for people. Columns of numbers are aligned to the right. */
final class Table {
    /** A number, a size, or what stands for an unknown one. */
    private static final Pattern NUMBER = Pattern.compile("-|\\d+(\\.\\d+)?( [KMGTPE]?i?B)?");

    private final List<String> titles;
    private final List<List<String>> rows = new ArrayList<>();

    Table(String... titles) { this.titles = List.of(titles); }

    void add(Object... cells) {
        var row = new ArrayList<String>();
        for (Object cell : cells) {
            row.add(String.valueOf(cell));
        }
        rows.add(row);
    }

    /** Returns the lines, without blanks at their ends. */
    List<String> lines() {
        var lines = new ArrayList<String>();
        lines.add(line(titles));
        rows.forEach(row -> lines.add(line(row)));
        return lines;
    }

    private String line(List<String> row) {
        var line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            int column = i;
            int width = Math.max(titles.get(i).length(),
                    rows.stream().mapToInt(one -> one.get(column).length()).max().orElse(0));
            boolean right = rows.stream()
                    .allMatch(one -> NUMBER.matcher(one.get(column)).matches());
            String cell = row.get(i);
            String blanks = " ".repeat(width - cell.length());
            line.append(i == 0 ? "" : "  ").append(right ? blanks + cell : cell + blanks);
        }
        return line.toString().stripTrailing();
    }
}
