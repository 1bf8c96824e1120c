package lunar.lucene;

import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;

/** Documents of random words. */
final class Corpus {
    private static final String[] SYLLABLES = {"lu", "nar", "block", "tar", "get", "log", "in",
            "scsi", "pdu", "burst", "nex", "us", "por", "tal"};

    private Corpus() {}

    static Document document(int id, Random random) {
        var text = new StringBuilder();
        for (int i = 5 + random.nextInt(60); i > 0; i--) {
            text.append(SYLLABLES[random.nextInt(SYLLABLES.length)])
                    .append(SYLLABLES[random.nextInt(SYLLABLES.length)])
                    .append(random.nextInt(30)).append(' ');
        }
        var document = new Document();
        document.add(new StringField("id", Integer.toString(id), Store.YES));
        document.add(new TextField("text", text.toString(), Store.YES));
        return document;
    }
}
