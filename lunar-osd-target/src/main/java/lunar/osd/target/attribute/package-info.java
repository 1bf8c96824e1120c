/**
 * The attributes of objects: a provider per standard page, user-defined pages as they are stored. {@link
 * lunar.osd.target.attribute.AttributeReader} gets attributes, {@link lunar.osd.target.attribute.SetEntry} checks and
 * sets them, {@link lunar.osd.target.attribute.Quota} resolves the quotas among them. Not exported.
 *
 * <p>Everything is stateless, and works on the reader or writer of a query or change of the store, in its thread.
 */
@NullMarked
package lunar.osd.target.attribute;

import org.jspecify.annotations.NullMarked;
