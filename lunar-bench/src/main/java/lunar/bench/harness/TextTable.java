package lunar.bench.harness;

import java.util.ArrayList;
import java.util.List;

/** A text table for the terminal and Markdown. */
public final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable(String... heading) { row(heading); }

    public void row(String... cells) { rows.add(List.of(cells)); }

    /** Returns the table as text, with columns as wide as they need to be. */
    public String plain() {
        var text = new StringBuilder();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                text.append(row.get(i));
                if (i < row.size() - 1) {
                    text.repeat(' ', width(i) + 2 - row.get(i).length());
                }
            }
            text.append('\n');
        }
        return text.toString();
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }

    public String markdown() {
        var text = new StringBuilder();
        for (List<String> row : rows) {
            text.append("| ").append(String.join(" | ", row)).append(" |\n");
            if (text.indexOf("---") < 0) {
                text.append("|").repeat("---|", row.size()).append('\n');
            }
        }
        return text.toString();
    }
}
