# Written 18:50, before any code was read. Not to be tuned to.
RULES=[
# shorthand
"pls dont rename the columns, the lab machine reads them by name",
"dont ever restart the beamline while i'm not there",
"plz keep the recipes metric",
"u must not open the sealed bids folder",
# obligations in any person
"The invoice numbers have to be consecutive.",
"Footnotes need to follow the Bluebook.",
"The chorus stays in D minor.",
"Allergens should be listed first on every menu card.",
"All distances should be in kilometres.",
"The patient's name has to be masked in every export.",
"Test fixtures need to be anonymised before they are committed.",
# not ok
"global state is not ok in the shader code",
"Hard-coded passwords are not acceptable, not even in examples.",
"It's not okay to guess a dosage.",
# conditions
"If a shipment is over 30 kg, it needs a second driver.",
"when the humidity is above 80 % the pump must not start",
"If you are unsure about a translation, ask me instead of guessing.",
"whenever a chord changes, mark it in the lead sheet",
# always / never on their own
"We cite the printed edition. Always.",
"Children's faces are blurred. No exceptions.",
"Guests see the old prices. Never the new ones.",
# standing use
"Use oat milk in all recipes.",
"Use snake_case.",
"Use metric units throughout.",
"Single quotes only.",
"Prefer fixed-point arithmetic over floats in the motor controller.",
# wishes
"I'd prefer that you show me the query before you run it.",
"I'd like every chapter to open with a date.",
"It matters to me that the originals are never overwritten.",
"Let's agree to keep the grid at 8 pixels.",
"From here on, write the captions in Welsh.",
# middle of a message
"Nice work on the timetable, but breaks must be at least 20 minutes, and I'll check the rest tonight.",
"One more thing: no abbreviations in the glossary.",
# languages
"Bitte immer Sie statt du verwenden.",
"Die Rohdaten dürfen nicht verändert werden.",
"Ne modifie jamais le fichier des tarifs.",
"Toujours écrire les montants en euros.",
"Nunca borres las fotos originales.",
"Não use acentos nos nomes dos arquivos.",
"Usa sempre il passato remoto nel racconto.",
]
NON=[
"pls run it again",
"Use the second photo for the cover.",
"can u fix the typo on page 4",
"The validator says that every row must have a date.",
"The manual says the valve has to be closed.",
"It has to be the cable.",
"He always comes late on Mondays.",
"The oven should be hot by now.",
"The judge wrote that no party may appeal.",
"If it rains tomorrow we stay inside.",
"If the build passes, merge it.",
"Das war immer schon so.",
"Kannst du bitte den Test starten?",
"Il n'a jamais plu hier.",
"The error says you must pass a locale.",
"That is not ok, the picture is upside down.",
"Does the title have to be bold?",
"Never mind.",
"Please add a legend to the second plot.",
"I have to leave in ten minutes.",
]
assert len(RULES)==40 and len(NON)==20
