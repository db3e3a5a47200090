CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, amount INTEGER);
INSERT INTO items WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, 'item ' || i, i % 97 FROM n;
CREATE INDEX amounts ON items (amount);
SELECT amount, count(*) FROM items GROUP BY amount ORDER BY 2 DESC, 1 LIMIT 3;
