"""What goes into a paper: several fits as one table, and terms as sentences."""
